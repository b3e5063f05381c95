#!/usr/bin/env python3
"""The manifests of packaging/kubernetes: against the schemas of Kubernetes, against each other, and against `skua serve`.

Usage: kubernetes_test.py BUILD_FOLDER      kubernetes-validate is installed from PyPI; without it, most is skipped
"""
import copy
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))
from installed import cache_of, python  # noqa: E402
from served import TIMEOUT, Program  # noqa: E402

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release").resolve()
PROGRAM = str(BUILD / "bin" / "skua")
ROOT = HERE.parents[1]
FOLDER = ROOT / "packaging" / "kubernetes"
CONFIG = FOLDER / "skua.toml"
VERSIONS = ("1.29", "1.37")  # of Kubernetes: the oldest that the manifests are made for, and the newest that is known
OF_OTHERS = {"kustomization.yaml", "pod-monitor.yaml", "prometheus-adapter.yaml"}  # kinds that Kubernetes itself does not know

try:
    environment = python(cache_of(PROGRAM), "kubernetes-validate==1.37.*")
    if environment:
        sys.path.insert(0, environment["PYTHONPATH"])
    import kubernetes_validate
    import yaml
except ImportError:
    print("skipped: most of it, kubernetes-validate cannot be installed")
    kubernetes_validate = None


def documents(name: str) -> list[dict]:
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


def one(name: str) -> dict:
    found = documents(name)
    assert len(found) == 1, name
    return found[0]


def settings() -> dict[str, str]:
    """The options as `skua serve` understands them, and its limits and timeouts."""
    done = subprocess.run([PROGRAM, "serve", "--config", CONFIG, "--print-config"], capture_output=True, text=True, timeout=TIMEOUT,
                          check=False)
    assert done.returncode == 0, done.stderr
    return dict(re.findall(r'^(?:# )?([\w-]+) *= "?(.*?)"?(?: +#.*)?$', done.stdout, re.M))


def seconds(text: str) -> int:
    return int(text.removesuffix(" s"))


@unittest.skipUnless(kubernetes_validate, "kubernetes-validate cannot be installed")
class Schemas(unittest.TestCase):
    def check(self, document: dict) -> None:
        for version in VERSIONS:
            with self.subTest(version=version, kind=document["kind"]):
                kubernetes_validate.validate(document, version, strict=True)

    def test_accept_each_manifest(self):
        names = {path.name for path in FOLDER.glob("*.yaml")} - OF_OTHERS
        self.assertGreaterEqual(len(names), 5)
        for name in sorted(names):
            for document in documents(name):
                self.check(document)

    def test_refuse_broken_ones(self):
        deployment = one("deployment.yaml")

        def broken(change) -> None:
            changed = copy.deepcopy(deployment)
            change(changed, changed["spec"]["template"]["spec"]["containers"][0])
            with self.assertRaises((kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError)):
                kubernetes_validate.validate(changed, VERSIONS[-1], strict=True)

        broken(lambda _, container: container.update(readinesProbe=container.pop("readinessProbe")))
        broken(lambda _, container: container["livenessProbe"].update(periodSeconds="often"))
        broken(lambda _, container: container.pop("name"))
        broken(lambda _, container: container["ports"][0].pop("containerPort"))
        broken(lambda whole, _: whole["spec"].pop("selector"))
        broken(lambda whole, _: whole.update(apiVersion="apps/v1beta1"))


@unittest.skipUnless(kubernetes_validate, "kubernetes-validate cannot be installed")
class Manifests(unittest.TestCase):
    """They name each other, the options and the image, and mean the same."""

    @classmethod
    def setUpClass(cls):
        cls.deployment = one("deployment.yaml")
        cls.template = cls.deployment["spec"]["template"]
        cls.pod = cls.template["spec"]
        cls.container = cls.pod["containers"][0]
        cls.ports = {port["name"]: port["containerPort"] for port in cls.container["ports"]}
        cls.settings = settings()

    def test_select_the_pods(self):
        labels = self.template["metadata"]["labels"]
        spread = self.pod["topologySpreadConstraints"][0]
        selectors = [self.deployment["spec"]["selector"], spread["labelSelector"], one("pod-disruption-budget.yaml")["spec"]["selector"],
                     one("network-policy.yaml")["spec"]["podSelector"], one("pod-monitor.yaml")["spec"]["selector"]]
        selected = [selector["matchLabels"] for selector in selectors]
        selected += [service["spec"]["selector"] for service in documents("service.yaml")]
        for one_of in selected:
            self.assertLessEqual(one_of.items(), labels.items())

    def test_name_ports_of_the_server(self):
        self.assertEqual(self.ports, {"http": int(self.settings["port"]), "admin": int(self.settings["admin"].rpartition(":")[2])})
        for address in (self.settings["host"], self.settings["admin"].rpartition(":")[0]):
            self.assertEqual(address, "0.0.0.0", "probes come from outside of the pod")
        services = [port["targetPort"] for service in documents("service.yaml") for port in service["spec"]["ports"]]
        self.assertEqual(set(services), {"http"}, "the admin port is not for everyone")
        probes = [self.container[probe]["httpGet"]["port"] for probe in ("livenessProbe", "readinessProbe")]
        monitored = [endpoint["port"] for endpoint in one("pod-monitor.yaml")["spec"]["podMetricsEndpoints"]]
        self.assertEqual({*probes, *monitored}, {"admin"})

    def test_admit_only_the_monitoring_to_the_admin_port(self):
        policy = one("network-policy.yaml")["spec"]
        self.assertEqual(set(policy["policyTypes"]), {"Ingress", "Egress"})
        for rule in policy["ingress"]:
            if any(port["port"] != "http" for port in rule["ports"]):
                self.assertEqual([*rule["from"][0]], ["namespaceSelector"])

    def test_give_a_pod_the_time_to_end(self):
        grace = self.pod["terminationGracePeriodSeconds"]
        self.assertGreater(grace, int(self.settings["drain-delay"]) + seconds(self.settings["shutdown"]))
        probe = self.container["readinessProbe"]
        self.assertGreater(int(self.settings["drain-delay"]), probe["periodSeconds"] * probe["failureThreshold"])

    def test_give_a_pod_no_rights(self):
        for key, value in {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}.items():
            self.assertEqual(self.pod["securityContext"][key], value)
        self.assertEqual(self.container["securityContext"], {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})
        self.assertIs(self.pod["automountServiceAccountToken"], False)
        self.assertIs(self.pod["enableServiceLinks"], False)
        user = re.search(r"\nUSER (\d+):(\d+)\n", (ROOT / "packaging/docker/Dockerfile").read_text())
        self.assertEqual((self.pod["securityContext"]["runAsUser"], self.pod["securityContext"]["runAsGroup"]),
                         (int(user[1]), int(user[2])))

    def test_scale_what_there_is(self):
        scaler = one("autoscaler.yaml")["spec"]
        self.assertEqual(scaler["scaleTargetRef"], {"apiVersion": "apps/v1", "kind": "Deployment", "name": self.deployment["metadata"]["name"]})
        self.assertNotIn("replicas", self.deployment["spec"])
        self.assertIn("cpu", self.container["resources"]["requests"], "a share of nothing is unknown")
        pods = next(metric["pods"] for metric in scaler["metrics"] if metric["type"] == "Pods")
        rules = one("prometheus-adapter.yaml")["rules"]["custom"]
        self.assertIn(pods["metric"]["name"], [rule["name"]["as"] for rule in rules])
        self.assertLess(int(pods["target"]["averageValue"].removesuffix("m")), 1000 * int(self.settings["threads"]))

    def test_are_all_applied(self):
        kustomization = one("kustomization.yaml")
        known = {path.name for path in FOLDER.glob("*.yaml")} - OF_OTHERS
        self.assertEqual(set(kustomization["resources"]), known)
        generated = kustomization["configMapGenerator"][0]
        self.assertEqual(self.pod["volumes"][0]["configMap"]["name"], generated["name"])
        mounted = self.container["volumeMounts"][0]["mountPath"]
        self.assertEqual(self.container["args"], ["serve", "--config", f"{mounted}/{generated['files'][0]}"])
        self.assertEqual(generated["files"], [CONFIG.name])
        self.assertEqual(kustomization["images"][0]["name"], self.container["image"])

    def test_monitor_by_fields_that_exist(self):
        # Those of the PodMonitor of the Prometheus Operator, v1, that are used.
        monitor = one("pod-monitor.yaml")
        self.assertEqual((monitor["apiVersion"], monitor["kind"]), ("monitoring.coreos.com/v1", "PodMonitor"))
        self.assertLessEqual(set(monitor["spec"]), {"selector", "podMetricsEndpoints"})
        for endpoint in monitor["spec"]["podMetricsEndpoints"]:
            self.assertLessEqual(set(endpoint), {"port", "path", "interval"})


def status(url: str) -> int:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=TIMEOUT) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def text(url: str) -> str:
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=TIMEOUT) as answer:
        return answer.read().decode()


class Serving(unittest.TestCase):
    """A server with these options, but on ports of its own: in its life, and at its end."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        pathlib.Path(folder.name, "index.html").write_text("home")
        variables = {name: value for name, value in os.environ.items() if not name.startswith("SKUA_")}
        self.program = Program(PROGRAM, "serve", folder.name, "--config", str(CONFIG), "--host", "127.0.0.1", "--port", "0",
                               "--admin", "127.0.0.1:0", environment=variables)

    def test_answers_what_the_manifests_ask_for(self):
        paths = re.findall(r"^ +path: (/\S+)$", "\n".join((FOLDER / name).read_text() for name in ("deployment.yaml", "pod-monitor.yaml")),
                           re.M)
        self.assertEqual(sorted(paths), ["/livez", "/metrics", "/readyz"])
        with self.program as url:
            admin = self.program.process.stdout.readline().removeprefix("admin on ").strip()
            self.assertEqual(text(url), "home")
            for path in paths:
                self.assertEqual(status(admin + path), 200, path)
            series = re.findall(r"^ +- seriesQuery: (\w+)\{", (FOLDER / "prometheus-adapter.yaml").read_text(), re.M)
            self.assertEqual(len(series), 1)
            self.assertIn(f"\n{series[0]} ", text(admin + "/metrics"))
            # SIGTERM begins the delay: the server is not ready, but serves. The second one ends it.
            self.program.process.send_signal(signal.SIGTERM)
            end = time.monotonic() + TIMEOUT
            while (code := status(admin + "/readyz")) == 200 and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual(code, 503)
            self.assertEqual(status(admin + "/livez"), 200)
            self.assertEqual(text(url), "home")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], warnings="ignore")  # served.py leaves a pipe open

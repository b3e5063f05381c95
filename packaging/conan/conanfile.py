import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir

required_conan_version = ">=2.0"

LIBRARIES = {  # option -> the requirement that it adds
    "with_tls": "openssl/[>=3 <4]",
    "with_zlib": "zlib/[>=1.2.11 <2]",
    "with_brotli": "brotli/1.1.0",
    "with_zstd": "zstd/[~1.5]",
    "with_expat": "expat/[>=2.4.5 <3]",
    "with_io_uring": "liburing/2.8",
}
LARGEST_OLD_COMPILER = {"gcc": 11, "clang": 15}


class SkuaRecipe(ConanFile):
    name = "skua"
    version = "@VERSION@"
    description = "A C++20 HTTP toolkit: server, client, WebSockets and HTTP/2"
    license = "MIT"
    homepage = "@HOMEPAGE@"
    url = "@HOMEPAGE@"
    topics = ("http", "http2", "websocket", "server", "client", "coroutines")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], **{name: [True, False] for name in LIBRARIES}}
    default_options = {"shared": False, "fPIC": True, **{name: True for name in LIBRARIES}}
    implements = ["auto_shared_fpic"]

    def config_options(self):
        if self.settings.os == "Windows":
            del self.options.fPIC
        if self.settings.os != "Linux":
            del self.options.with_io_uring

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        for option, requirement in LIBRARIES.items():
            if self.options.get_safe(option):
                self.requires(requirement)

    def validate(self):
        check_min_cppstd(self, 20)
        newest = LARGEST_OLD_COMPILER.get(str(self.settings.compiler))
        if newest and int(str(self.settings.compiler.version).split(".")[0]) <= newest:
            raise ConanInvalidConfiguration("skua needs at least GCC 12 or Clang 16")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "CLI", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"SKUA_BUILD_{part}"] = False
        toolchain.cache_variables["SKUA_WERROR"] = False
        toolchain.cache_variables["SKUA_UNITY"] = True
        for option in LIBRARIES:
            toolchain.cache_variables[f"SKUA_{option.upper()}"] = "ON" if self.options.get_safe(option) else "OFF"
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan writes these for each user, with the paths of that user's dependencies.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.libs = ["skua"]
        self.cpp_info.set_property("cmake_file_name", "skua")
        self.cpp_info.set_property("cmake_target_name", "skua::skua")
        self.cpp_info.set_property("pkg_config_name", "skua")
        if not self.options.shared:
            self.cpp_info.defines = ["SKUA_STATIC"]
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["pthread"]
        elif self.settings.os == "Windows":
            self.cpp_info.system_libs = ["ws2_32", "mswsock", "bcrypt"]

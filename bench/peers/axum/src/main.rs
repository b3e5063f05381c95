//! A peer of the benchmarks: axum with axum-server (rustls), and tower-http for files.
//! Usage: axum --port P [--threads N] [--tls-cert FILE --tls-key FILE] [--files FOLDER]

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::{env, error, io};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{DefaultBodyLimit, Path};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum_server::Server;
use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use futures_util::StreamExt;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::Ticketer;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tokio::runtime;
use tokio::sync::broadcast::{self, error::RecvError};
use tower_http::services::ServeDir;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BODY_LIMIT: usize = 16 << 20;
const MESSAGE_LIMIT: usize = 1 << 20;
const HEAD_LIMIT: u32 = 128 << 10; // of HTTP/2, which counts 32 bytes more for each field

type Error = Box<dyn error::Error + Send + Sync>;

/// Messages for the sockets of /subscribe.
static PUBLISHED: LazyLock<broadcast::Sender<Message>> = LazyLock::new(|| broadcast::Sender::new(1024));

const TEXT: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "text/plain")];
const OCTETS: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/octet-stream")];
const JSON: [(HeaderName, &str); 6] = [
    (header::CONTENT_TYPE, "application/json"),
    (header::CACHE_CONTROL, "no-cache, private"),
    (header::ETAG, r#""33a64df551425fcc55e4d42a1""#),
    (header::VARY, "Accept-Encoding"),
    (HeaderName::from_static("x-request-id"), "9f86d081884c7d659a2feaa0"),
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "https://example.com"),
];

async fn upload(body: Body) -> Result<Response, (StatusCode, String)> {
    let mut pieces = body.into_data_stream();
    let mut size = 0;
    while let Some(piece) = pieces.next().await {
        size += piece.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?.len();
    }
    Ok((TEXT, size.to_string()).into_response())
}

async fn echo_messages(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if matches!(message, Message::Text(_) | Message::Binary(_)) && socket.send(message).await.is_err() {
            return;
        }
    }
}

async fn publish(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if matches!(message, Message::Text(_) | Message::Binary(_)) {
            let _ = PUBLISHED.send(message); // no subscriber is no error
        }
    }
}

async fn subscriber(mut socket: WebSocket, mut published: broadcast::Receiver<Message>) {
    loop {
        tokio::select! {
            message = published.recv() => match message {
                Ok(message) => if socket.send(message).await.is_err() { return },
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
            message = socket.recv() => if !matches!(message, Some(Ok(_))) { return },
        }
    }
}

async fn subscribe(upgrade: WebSocketUpgrade) -> Response {
    let published = PUBLISHED.subscribe(); // so that no message is missed after the handshake
    upgrade.on_upgrade(|socket| subscriber(socket, published))
}

fn routes(files: Option<String>) -> Router {
    let mut router = Router::new()
        .route("/", get(async || (TEXT, "Hello, World!")))
        .route("/json", get(async || (JSON, r#"{"message":"Hello, World!"}"#)))
        .route("/echo", post(async |body: Bytes| (OCTETS, body)).layer(DefaultBodyLimit::max(BODY_LIMIT)))
        .route("/upload", post(upload))
        .route("/ws", get(async |upgrade: WebSocketUpgrade| upgrade.max_message_size(MESSAGE_LIMIT).on_upgrade(echo_messages)))
        .route("/publish", get(async |upgrade: WebSocketUpgrade| upgrade.max_message_size(MESSAGE_LIMIT).on_upgrade(publish)))
        .route("/subscribe", get(subscribe));
    for number in 0..200 {
        router = router.route(&format!("/r{number}/items/{{id}}"), get(async |Path(id): Path<String>| (TEXT, id)));
    }
    match files {
        Some(folder) => router.nest_service("/files", ServeDir::new(folder)),
        None => router,
    }
}

fn tls(certificate: &str, key: &str) -> Result<RustlsConfig, Error> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<_, _>>()?;
    let mut config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config.ticketer = Ticketer::new()?;
    Ok(RustlsConfig::from_config(Arc::new(config)))
}

async fn listen(port: u16, config: Option<RustlsConfig>, files: Option<String>) -> Result<(), Error> {
    let mut server = Server::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).acceptor(NoDelayAcceptor);
    server.http_builder().http1().pipeline_flush(true);
    server.http_builder().http2().max_header_list_size(HEAD_LIMIT);
    let service = routes(files).into_make_service();
    match config {
        Some(config) => server.acceptor(RustlsAcceptor::new(config).acceptor(NoDelayAcceptor)).serve(service).await?,
        None => server.serve(service).await?,
    }
    Ok(())
}

fn option(name: &str) -> Option<String> {
    env::args().skip_while(|word| word != name).nth(1)
}

fn main() -> Result<(), Error> {
    let port = option("--port").ok_or(io::Error::other("--port is missing"))?.parse()?;
    let threads = option("--threads").map_or(Ok(1), |count| count.parse())?;
    let config = option("--tls-cert").zip(option("--tls-key")).map(|(certificate, key)| tls(&certificate, &key)).transpose()?;
    let mut builder = if threads == 1 { runtime::Builder::new_current_thread() } else { runtime::Builder::new_multi_thread() };
    builder.worker_threads(threads).enable_all().build()?.block_on(listen(port, config, option("--files")))
}

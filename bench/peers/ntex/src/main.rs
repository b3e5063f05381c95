//! A peer of the benchmarks: ntex on its own runtime (neon, epoll), with rustls, and ntex-files.
//! Usage: ntex --port P [--threads N] [--tls-cert FILE --tls-key FILE] [--files FOLDER]

use std::cell::RefCell;
use std::{env, error, io};

use ntex::http::{HttpServiceConfig, KeepAlive, body::BodySize, h1};
use ntex::io::{DispatchItem, Dispatcher, IoConfig, IoRef};
use ntex::service::{cfg::SharedCfg, fn_service};
use ntex::time::Seconds;
use ntex::util::{ByteString, Bytes};
use ntex::web::{self, App, HttpRequest, HttpResponse, HttpServer, types};
use ntex::ws::{self, error::HandshakeError};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::Ticketer;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HEAD_LIMIT: usize = 64 << 10;
const BODY_LIMIT: usize = 16 << 20;
const MESSAGE_LIMIT: usize = 1 << 20;

type Error = Box<dyn error::Error + Send + Sync>;

thread_local! {
    static SUBSCRIBERS: RefCell<Vec<(IoRef, ws::Codec)>> = const { RefCell::new(Vec::new()) };
}

async fn plain() -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain").body("Hello, World!")
}

async fn json() -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json")
        .header("Cache-Control", "no-cache, private")
        .header("ETag", r#""33a64df551425fcc55e4d42a1""#)
        .header("Vary", "Accept-Encoding")
        .header("X-Request-Id", "9f86d081884c7d659a2feaa0")
        .header("Access-Control-Allow-Origin", "https://example.com")
        .body(r#"{"message":"Hello, World!"}"#)
}

async fn item(id: types::Path<String>) -> HttpResponse {
    HttpResponse::Ok().content_type("text/plain").body(id.into_inner())
}

async fn echo(body: Bytes) -> HttpResponse {
    HttpResponse::Ok().content_type("application/octet-stream").body(body)
}

async fn upload(mut body: types::Payload) -> Result<HttpResponse, web::Error> {
    let mut size = 0;
    while let Some(piece) = body.recv().await {
        size += piece?.len();
    }
    Ok(HttpResponse::Ok().content_type("text/plain").body(size.to_string()))
}

fn message(frame: ws::Frame) -> io::Result<ws::Message> {
    match frame {
        ws::Frame::Text(text) => ByteString::try_from(text).map(ws::Message::Text).map_err(|_| io::Error::other("not UTF-8")),
        ws::Frame::Binary(data) => Ok(ws::Message::Binary(data)),
        ws::Frame::Ping(data) => Ok(ws::Message::Pong(data)),
        ws::Frame::Close(reason) => Ok(ws::Message::Close(reason)),
        _ => Err(io::Error::other("fragments are not supported")),
    }
}

fn publish(message: &ws::Message) {
    SUBSCRIBERS.with_borrow_mut(|all| all.retain(|(io, codec)| io.encode(message.clone(), codec).is_ok() && !io.is_closed()));
}

async fn received(item: DispatchItem<ws::Codec>, is_publisher: bool) -> io::Result<Option<ws::Message>> {
    match item {
        DispatchItem::Item(frame) => match message(frame)? {
            content @ (ws::Message::Text(_) | ws::Message::Binary(_)) if is_publisher => {
                publish(&content);
                Ok(None)
            }
            answer => Ok(Some(answer)),
        },
        _ => Ok(None),
    }
}

/// Does what `web::ws::start` does, whose messages end at 64 KiB.
async fn websocket(request: HttpRequest) -> Result<HttpResponse, web::Error> {
    let (response, _) = ws::handshake(request.head())?.finish().into_parts();
    let (io, codec) = request.head().take_io().ok_or(HandshakeError::NoWebsocketUpgrade)?;
    io.encode(h1::Message::Item((response, BodySize::Empty)), &codec).map_err(io::Error::other)?;
    io.set_config(SharedCfg::new("ws").add(IoConfig::new().set_keepalive_timeout(Seconds::ZERO)));
    io.stop_timer();
    let codec = ws::Codec::new().max_size(MESSAGE_LIMIT);
    if request.path() == "/subscribe" {
        SUBSCRIBERS.with_borrow_mut(|all| all.push((io.get_ref(), codec.clone())));
    }
    let is_publisher = request.path() == "/publish";
    ntex::rt::spawn(Dispatcher::new(io, codec, fn_service(move |item| received(item, is_publisher))));
    Ok(HttpResponse::Ok().finish())
}

fn configure(routes: &mut web::ServiceConfig, files: Option<&str>) {
    routes
        .state(types::PayloadConfig::new(BODY_LIMIT))
        .route("/", web::get().to(plain))
        .route("/json", web::get().to(json))
        .route("/echo", web::post().to(echo))
        .route("/upload", web::post().to(upload));
    for path in ["/ws", "/publish", "/subscribe"] {
        routes.route(path, web::get().to(websocket));
    }
    for number in 0..200 {
        routes.route(&format!("/r{number}/items/{{id}}"), web::get().to(item));
    }
    if let Some(folder) = files {
        routes.service(ntex_files::Files::new("/files", folder));
    }
}

fn tls(certificate: &str, key: &str) -> Result<ServerConfig, Error> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<_, _>>()?;
    let mut config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.ticketer = Ticketer::new()?;
    Ok(config)
}

fn option(name: &str) -> Option<String> {
    env::args().skip_while(|word| word != name).nth(1)
}

#[ntex::main]
async fn main() -> Result<(), Error> {
    let address = ("127.0.0.1", option("--port").ok_or(io::Error::other("--port is missing"))?.parse()?);
    let threads = option("--threads").map_or(Ok(1), |count| count.parse())?;
    let server = HttpServer::new(async || App::new().configure(|routes| configure(routes, option("--files").as_deref())))
        .workers(threads)
        .backlog(4096)
        .config(SharedCfg::new("peer").add(HttpServiceConfig::new().set_keepalive(KeepAlive::Os).set_max_buf_size(HEAD_LIMIT)));
    let server = match option("--tls-cert").zip(option("--tls-key")) {
        Some((certificate, key)) => server.bind_rustls(address, &tls(&certificate, &key)?)?,
        None => server.bind(address)?,
    };
    Ok(server.run().await?)
}

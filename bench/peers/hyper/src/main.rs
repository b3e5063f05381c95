//! A peer of the benchmarks: hyper 1 with hyper-util, tokio-rustls and fastwebsockets.
//! Usage: hyper --port P [--threads N] [--tls-cert FILE --tls-key FILE]

use std::sync::{Arc, LazyLock};
use std::{env, error, io};

use bytes::Bytes;
use fastwebsockets::upgrade::{UpgradeFut, upgrade};
use fastwebsockets::{FragmentCollector, Frame, OpCode, Payload, WebSocketError};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs::Ticketer;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BODY_LIMIT: usize = 16 << 20;
const MESSAGE_LIMIT: usize = (1 << 20) + 1; // fastwebsockets takes less than its limit
const HEAD_LIMIT: u32 = 128 << 10; // of HTTP/2, which counts 32 bytes more for each field

type Error = Box<dyn error::Error + Send + Sync>;
type Answer = Response<Full<Bytes>>;

/// Messages for the sockets of /subscribe.
static PUBLISHED: LazyLock<broadcast::Sender<(OpCode, Bytes)>> = LazyLock::new(|| broadcast::Sender::new(1024));

fn answer(kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(Full::new(body.into()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn json() -> Answer {
    let mut response = answer("application/json", r#"{"message":"Hello, World!"}"#);
    let fields = response.headers_mut();
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    fields.insert(header::ETAG, HeaderValue::from_static(r#""33a64df551425fcc55e4d42a1""#));
    fields.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    fields.insert(HeaderName::from_static("x-request-id"), HeaderValue::from_static("9f86d081884c7d659a2feaa0"));
    fields.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("https://example.com"));
    response
}

async fn upload(mut body: Incoming) -> Result<Answer, Error> {
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        size += frame?.data_ref().map_or(0, Bytes::len);
    }
    Ok(answer("text/plain", size.to_string()))
}

async fn each(socket: UpgradeFut, is_publisher: bool) -> Result<(), WebSocketError> {
    let mut socket = FragmentCollector::new({
        let mut socket = socket.await?;
        socket.set_max_message_size(MESSAGE_LIMIT);
        socket
    });
    loop {
        let frame = socket.read_frame().await?;
        match frame.opcode {
            OpCode::Close => return Ok(()),
            OpCode::Text | OpCode::Binary if is_publisher => {
                let _ = PUBLISHED.send((frame.opcode, Bytes::copy_from_slice(&frame.payload))); // no subscriber is no error
            }
            OpCode::Text | OpCode::Binary => socket.write_frame(frame).await?,
            _ => {}
        }
    }
}

async fn subscriber(socket: UpgradeFut, mut published: broadcast::Receiver<(OpCode, Bytes)>) -> Result<(), WebSocketError> {
    let mut socket = socket.await?;
    loop {
        tokio::select! {
            message = published.recv() => match message {
                Ok((kind, body)) => socket.write_frame(Frame::new(true, kind, None, Payload::Borrowed(&body))).await?,
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return Ok(()),
            },
            frame = socket.read_frame() => if frame?.opcode == OpCode::Close { return Ok(()) }, // subscribers send nothing else
        }
    }
}

fn websocket(mut request: Request<Incoming>) -> Result<Answer, Error> {
    let (response, socket) = upgrade(&mut request)?;
    let path = request.uri().path();
    if path == "/subscribe" {
        tokio::spawn(subscriber(socket, PUBLISHED.subscribe()));
    } else {
        tokio::spawn(each(socket, path == "/publish"));
    }
    Ok(response.map(|_| Full::default()))
}

async fn handle(request: Request<Incoming>) -> Result<Answer, Error> {
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => Ok(answer("text/plain", "Hello, World!")),
        (&Method::GET, "/json") => Ok(json()),
        (&Method::POST, "/echo") => {
            let body = Limited::new(request.into_body(), BODY_LIMIT).collect().await?;
            Ok(answer("application/octet-stream", body.to_bytes()))
        }
        (&Method::POST, "/upload") => upload(request.into_body()).await,
        (&Method::GET, "/ws" | "/subscribe" | "/publish") => websocket(request),
        _ => {
            let mut response = answer("text/plain", "not found");
            *response.status_mut() = StatusCode::NOT_FOUND;
            Ok(response)
        }
    }
}

fn tls(certificate: &str, key: &str) -> Result<TlsAcceptor, Error> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<_, _>>()?;
    let mut config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config.ticketer = Ticketer::new()?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn serve(server: &Builder<TokioExecutor>, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    let _ = server.serve_connection_with_upgrades(TokioIo::new(stream), service_fn(handle)).await; // clients may leave at any time
}

async fn connection(server: Arc<Builder<TokioExecutor>>, acceptor: Option<TlsAcceptor>, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    match acceptor {
        None => serve(&server, stream).await,
        Some(acceptor) => {
            if let Ok(stream) = acceptor.accept(stream).await {
                serve(&server, stream).await;
            }
        }
    }
}

async fn listen(port: u16, acceptor: Option<TlsAcceptor>) -> Result<(), Error> {
    let mut server = Builder::new(TokioExecutor::new());
    server.http1().pipeline_flush(true);
    server.http2().max_header_list_size(HEAD_LIMIT);
    let server = Arc::new(server);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(connection(server.clone(), acceptor.clone(), stream));
        }
    }
}

fn option(name: &str) -> Option<String> {
    env::args().skip_while(|word| word != name).nth(1)
}

fn main() -> Result<(), Error> {
    let port = option("--port").ok_or(io::Error::other("--port is missing"))?.parse()?;
    let threads = option("--threads").map_or(Ok(1), |count| count.parse())?;
    let acceptor = option("--tls-cert").zip(option("--tls-key")).map(|(certificate, key)| tls(&certificate, &key)).transpose()?;
    let mut builder = if threads == 1 { runtime::Builder::new_current_thread() } else { runtime::Builder::new_multi_thread() };
    builder.worker_threads(threads).enable_io().build()?.block_on(listen(port, acceptor))
}

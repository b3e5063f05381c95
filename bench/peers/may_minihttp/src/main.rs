//! A peer of the benchmarks: may_minihttp, which parses heads and no more; it has no router, TLS or WebSockets.
//! Usage: may_minihttp --port P [--threads N]

use std::io::{self, BufRead, Read};
use std::{env, error};

use may_minihttp::{HttpService, HttpServiceFactory, Request, Response};
use socket2::SockRef;
use std::os::fd::BorrowedFd;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BODY_LIMIT: usize = 16 << 20;

struct Peer;

fn json(response: &mut Response) {
    response
        .header("Content-Type: application/json")
        .header("Cache-Control: no-cache, private")
        .header(r#"ETag: "33a64df551425fcc55e4d42a1""#)
        .header("Vary: Accept-Encoding")
        .header("X-Request-Id: 9f86d081884c7d659a2feaa0")
        .header("Access-Control-Allow-Origin: https://example.com")
        .body(r#"{"message":"Hello, World!"}"#);
}

fn echo(request: Request, response: &mut Response) -> io::Result<()> {
    let mut body = Vec::new();
    request.body().take(BODY_LIMIT as u64).read_to_end(&mut body)?;
    response.header("Content-Type: application/octet-stream").body_vec(body);
    Ok(())
}

fn upload(request: Request, response: &mut Response) -> io::Result<()> {
    let mut body = request.body();
    let mut size = 0;
    loop {
        let count = body.fill_buf()?.len();
        if count == 0 {
            break;
        }
        size += count;
        body.consume(count);
    }
    response.header("Content-Type: text/plain").body_vec(size.to_string().into_bytes());
    Ok(())
}

impl HttpService for Peer {
    fn call(&mut self, request: Request, response: &mut Response) -> io::Result<()> {
        match (request.method(), request.path()) {
            ("GET", "/") => response.header("Content-Type: text/plain").body("Hello, World!"),
            ("GET", "/json") => json(response),
            ("POST", "/echo") => echo(request, response)?,
            ("POST", "/upload") => upload(request, response)?,
            _ => response.status_code(404, "Not Found").body("not found"),
        }
        Ok(())
    }
}

struct Peers;

impl HttpServiceFactory for Peers {
    type Service = Peer;

    fn new_service(&self, id: usize) -> Peer {
        // SAFETY: the id is the descriptor of the connection, which is open.
        let socket = unsafe { BorrowedFd::borrow_raw(id as i32) };
        let _ = SockRef::from(&socket).set_tcp_nodelay(true);
        Peer
    }
}

fn option(name: &str) -> Option<String> {
    env::args().skip_while(|word| word != name).nth(1)
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let port: u16 = option("--port").ok_or(io::Error::other("--port is missing"))?.parse()?;
    may::config().set_workers(option("--threads").map_or(Ok(1), |count| count.parse())?);
    Peers.start(("127.0.0.1", port))?.join().map_err(|_| io::Error::other("the server panicked"))?;
    Ok(())
}

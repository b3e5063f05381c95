//! A peer of the client benchmark: hyper-util's client on one thread.
//! Usage: hyper-client --url URL --connections N --requests N

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::rc::Rc;
use std::time::Instant;
use std::{env, error, io};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::{StatusCode, Uri};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use tokio::task::LocalSet;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Error = Box<dyn error::Error + Send + Sync>;

async fn get(client: Client<HttpConnector, Empty<Bytes>>, url: Uri, left: Rc<Cell<u64>>) -> Result<usize, Error> {
    let mut size = 0;
    while let Some(rest) = left.get().checked_sub(1) {
        left.set(rest);
        let response = client.get(url.clone()).await?;
        if response.status() != StatusCode::OK {
            return Err(format!("a response was {}", response.status()).into());
        }
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            size += frame?.data_ref().map_or(0, Bytes::len);
        }
    }
    Ok(size)
}

async fn get_all(url: Uri, connections: usize, requests: u64) -> Result<usize, Error> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(connections).build(connector);
    let left = Rc::new(Cell::new(requests));
    let tasks: Vec<_> = (0..connections).map(|_| tokio::task::spawn_local(get(client.clone(), url.clone(), left.clone()))).collect();
    let mut size = 0;
    for task in tasks {
        size += task.await??;
    }
    Ok(size)
}

/// Returns the user and system CPU time of this process in seconds.
fn used() -> (f64, f64) {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage only writes to `usage`, whose zeros are valid too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}

fn option<T: std::str::FromStr<Err: Into<Error>>>(name: &str) -> Result<T, Error> {
    let word = env::args().skip_while(|word| word != name).nth(1).ok_or(io::Error::other(format!("{name} is missing")))?;
    word.parse().map_err(Into::into)
}

fn main() -> Result<(), Error> {
    let url = option("--url")?;
    let connections = option("--connections").unwrap_or(1);
    let requests = option("--requests").unwrap_or(1000);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (user, system) = used();
    let began = Instant::now();
    let bytes = LocalSet::new().block_on(&runtime, get_all(url, connections, requests))?;
    let lasted = began.elapsed().as_secs_f64();
    let (user_after, system_after) = used();
    println!(
        r#"{{"requests": {requests}, "seconds": {lasted:.6}, "user": {:.6}, "system": {:.6}, "bytes": {bytes}}}"#,
        user_after - user,
        system_after - system
    );
    Ok(())
}

//! A server on its own thread, and the orders of its clients.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration as Span;
use thalweg_control::{ControllerSpec, Registry};
use thalweg_quic_sockets::{
    Credentials, Fingerprint, GetError, Limits, Order, RequestHandle, Served, Server, ServerConfig,
    Summary, Totals, Workload, get,
};
use thalweg_units::{Bytes, Duration};

pub(crate) fn controller(name: &str) -> ControllerSpec {
    name.parse().expect("a controller")
}

pub(crate) fn config() -> ServerConfig {
    ServerConfig {
        address: (Ipv4Addr::LOCALHOST, 0).into(),
        credentials: Credentials::make().expect("random numbers"),
        controller: controller("cubic"),
        offered: Some(Registry::standard()),
        limits: Limits::default(),
        trace: false,
    }
}

/// A server on its own thread.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) stop: Arc<AtomicBool>,
    served: Mutex<mpsc::Receiver<Served>>,
    thread: JoinHandle<Totals>,
}

pub(crate) fn serve(config: ServerConfig) -> Running {
    let fingerprint = config.credentials.fingerprint();
    let mut server = Server::bind(config).expect("a free port");
    let address = server.address();
    let stop = Arc::new(AtomicBool::new(false));
    let (tell, served) = mpsc::channel();
    let thread = thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let mut tell = |served| tell.send(served).expect("a listener");
            server
                .serve(&stop, None, false, &mut tell)
                .expect("a socket that works")
        }
    });
    Running {
        address,
        fingerprint,
        stop,
        served: Mutex::new(served),
        thread,
    }
}

impl Running {
    pub(crate) fn order(&self, workload: Workload) -> Order {
        Order {
            host: self.address.ip().to_string(),
            port: self.address.port(),
            fingerprint: self.fingerprint,
            workload,
            controller: controller("cubic"),
            server_controller: None,
            patience: Duration::from_secs(3),
            idle: Duration::from_secs(5),
            trace: false,
        }
    }

    pub(crate) fn get(&self, workload: Workload) -> Result<Summary, GetError> {
        get(&self.order(workload), &RequestHandle::default())
    }

    /// The report of the next connection that ends.
    pub(crate) fn served(&self) -> Served {
        let served = self.served.lock().expect("no panic");
        served.recv_timeout(Span::from_secs(5)).expect("a report")
    }

    pub(crate) fn stop(self) -> Totals {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("a server that ends")
    }
}

pub(crate) fn mb(count: u64) -> Bytes {
    Bytes::new(count * 1_000_000)
}

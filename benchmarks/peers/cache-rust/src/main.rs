// SPDX-License-Identifier: Apache-2.0

//! The program of benchmarks/cache on kube-rs: the same flags, commands and lines of output as
//! benchmarks/cache/client.cpp, which documents them. The store has no index: a list by label looks at every pod.

use std::io::BufRead;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::{future, Stream, StreamExt};
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::core::v1::{
    ConfigMap, PersistentVolumeClaim, Pod, Secret, Service, ServiceAccount,
};
use k8s_openapi::NamespaceResourceScope;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::PartialObjectMeta;
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::{watcher, WatchStreamExt};
use kube::{Api, Client, Config, Resource, ResourceExt};
use measure::{cpu_seconds, flag, now};
use serde::de::DeserializeOwned;
use serde_json::json;

const APP: &str = "app-7";
const HOT: usize = 100; // pods that the paced reader reads

/// A part of the events, from the first of them to the last.
#[derive(Default)]
struct Stretch {
    from: i64,
    wanted: i64,
    start: i64,
    cpu: f64,
}

/// Counts the events after the first list.
#[derive(Default)]
struct Told {
    synced: AtomicBool,
    count: AtomicI64,
    stretch: Mutex<Stretch>,
}

impl Told {
    fn event(&self) {
        if !self.synced.load(Ordering::Relaxed) {
            return;
        }
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let mut stretch = self.stretch.lock().unwrap();
        if stretch.wanted == 0 {
            return;
        }
        if stretch.start == 0 {
            stretch.start = now();
        }
        if count >= stretch.from + stretch.wanted {
            println!(
                "{}",
                json!({"event": "counted", "events": stretch.wanted,
                    "seconds": (now() - stretch.start) as f64 / 1e9, "cpu_s": cpu_seconds() - stretch.cpu})
            );
            stretch.wanted = 0;
        }
    }

    fn expect(&self, count: i64) {
        *self.stretch.lock().unwrap() = Stretch {
            from: self.count.load(Ordering::Relaxed),
            wanted: count,
            start: 0,
            cpu: cpu_seconds(),
        };
        println!("{}", json!({"event": "counting"}));
    }
}

fn said_synced(objects: usize) {
    println!(
        "{}",
        json!({"event": "synced", "at_ns": now(), "cpu_s": cpu_seconds(), "objects": objects})
    );
}

/// Keeps the store equal to the server, and counts.
async fn follow<K>(stream: impl Stream<Item = watcher::Result<watcher::Event<K>>>, told: &Told) {
    stream
        .for_each(|event| {
            match event {
                Ok(watcher::Event::InitDone) => told.synced.store(true, Ordering::Relaxed),
                Ok(watcher::Event::Init) | Err(_) => {}
                Ok(_) => told.event(),
            }
            future::ready(())
        })
        .await
}

/// A kind whose objects a store can keep.
trait Kept: Resource + Clone + std::fmt::Debug + DeserializeOwned + Send + Sync + 'static {}
impl<K> Kept for K where
    K: Resource + Clone + std::fmt::Debug + DeserializeOwned + Send + Sync + 'static
{
}

/// Watches, and returns when all objects are in the store.
async fn synced_store<K: Kept>(api: Api<K>) -> (Store<K>, Arc<Told>)
where
    K::DynamicType: Default + Eq + std::hash::Hash + Clone + Send + Sync,
{
    let (reader, writer) = reflector::store();
    let told = Arc::new(Told::default());
    let stream = watcher(api, watcher::Config::default())
        .default_backoff()
        .reflect(writer);
    let counting = told.clone();
    tokio::spawn(async move { follow(Box::pin(stream), &counting).await });
    reader.wait_until_ready().await.unwrap();
    said_synced(reader.len());
    (reader, told)
}

async fn watch_pods(client: Client, namespace: &str) {
    let api = if namespace.is_empty() {
        Api::all(client)
    } else {
        Api::namespaced(client, namespace)
    };
    let (reader, told) = synced_store::<Pod>(api).await;
    std::thread::spawn(move || obey(&told, Some(&reader)));
    future::pending().await
}

async fn watch_metadata(client: Client) {
    let (_reader, told) = synced_store::<PartialObjectMeta<Pod>>(Api::all(client)).await;
    std::thread::spawn(move || obey(&told, None));
    future::pending().await
}

async fn watch_idle<K>(client: Client, namespaces: i64) -> Vec<Store<K>>
where
    K: Kept + Resource<Scope = NamespaceResourceScope>,
    K::DynamicType: Default + Eq + std::hash::Hash + Clone + Send + Sync,
{
    let mut stores = Vec::new();
    for at in 0..namespaces {
        let (reader, writer) = reflector::store::<K>();
        let api: Api<K> = Api::namespaced(client.clone(), &format!("idle-{at}"));
        let stream = watcher(api, watcher::Config::default())
            .default_backoff()
            .reflect(writer);
        tokio::spawn(stream.for_each(|_| future::ready(())));
        stores.push(reader);
    }
    stores
}

async fn watch_namespaces(client: Client, count: i64) {
    macro_rules! watch {
        ($($kind:ty),*) => {{
            let stores = ($(watch_idle::<$kind>(client.clone(), count).await),*);
            stores
        }};
    }
    let stores = watch!(
        Pod,
        ConfigMap,
        Secret,
        Service,
        ServiceAccount,
        PersistentVolumeClaim,
        Deployment,
        ReplicaSet,
        StatefulSet,
        DaemonSet
    );
    macro_rules! wait {
        ($($at:tt),*) => {{
            $(for store in &stores.$at {
                store.wait_until_ready().await.unwrap();
            })*
        }};
    }
    wait!(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    said_synced(0);
    std::thread::spawn(move || obey(&Told::default(), None));
    future::pending::<()>().await;
    drop(stores);
}

/// Reads ten pods each millisecond, and reports quantiles of the time of one read.
fn paced(count: usize, read: impl Fn(usize)) {
    let mut times = Vec::with_capacity(count);
    let mut next = std::time::Instant::now();
    for at in 0..count {
        if at % 10 == 0 {
            next += Duration::from_millis(1);
            std::thread::sleep(next.saturating_duration_since(std::time::Instant::now()));
        }
        let before = now();
        read(at);
        times.push(now() - before);
    }
    times.sort_unstable();
    let quantile = |share: f64| times[((times.len() - 1) as f64 * share) as usize] as f64 / 1e3;
    println!(
        "{}",
        json!({"event": "read", "p50_us": quantile(0.5), "p99_us": quantile(0.99)})
    );
}

/// Returns the mean time of `call` in nanoseconds.
fn each(count: i64, call: impl Fn()) -> f64 {
    call();
    let before = now();
    for _ in 0..count {
        call();
    }
    (now() - before) as f64 / count as f64
}

fn list(store: &Store<Pod>) -> Vec<Arc<Pod>> {
    let in_app = |pod: &Arc<Pod>| pod.labels().get("app").map(String::as_str) == Some(APP);
    store.state().into_iter().filter(in_app).collect()
}

fn sorted_keys(store: &Store<Pod>) -> Vec<ObjectRef<Pod>> {
    let mut pods = store.state();
    pods.sort_by_key(|pod| (pod.namespace(), pod.name_any()));
    pods.iter()
        .map(|pod| ObjectRef::from_obj(pod.as_ref()))
        .collect()
}

fn read_pod(store: &Store<Pod>, key: &ObjectRef<Pod>) {
    std::hint::black_box(store.get(key).expect("a pod of the store"));
}

fn obey(told: &Told, store: Option<&Store<Pod>>) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let mut words = line.split_whitespace();
        let command = words.next().unwrap_or_default();
        let number: i64 = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        match (command, store) {
            ("collect", _) => {
                // SAFETY: it has no preconditions.
                unsafe { libc::malloc_trim(0) };
                println!("{}", json!({"event": "collected"}));
            }
            ("count", _) => told.expect(number),
            ("told", _) => println!(
                "{}",
                json!({"event": "told", "events": told.count.load(Ordering::Relaxed)})
            ),
            ("get", Some(store)) => {
                let keys = sorted_keys(store);
                let ns = each(number, || read_pod(store, &keys[0]));
                println!("{}", json!({"event": "get", "ns": ns}));
            }
            ("list", Some(store)) => {
                let ns = each(number, || drop(std::hint::black_box(list(store))));
                println!(
                    "{}",
                    json!({"event": "list", "ns": ns, "objects": list(store).len()})
                );
            }
            ("read", Some(store)) => {
                let keys = sorted_keys(store);
                keys.iter().take(HOT).for_each(|key| read_pod(store, key));
                paced(number as usize, |at| read_pod(store, &keys[at * 37 % HOT]));
            }
            _ => {
                eprintln!("unknown command {line}");
                std::process::exit(1);
            }
        }
    }
    std::thread::sleep(Duration::MAX);
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::from_custom_kubeconfig(
        Kubeconfig::read_from(flag("server", ""))?,
        &KubeConfigOptions::default(),
    )
    .await?;
    let client = Client::try_from(config)?;
    let namespaces: i64 = flag("namespaces", "0").parse()?;
    if namespaces > 0 {
        watch_namespaces(client, namespaces).await;
    } else if flag("form", "whole") == "metadata" {
        watch_metadata(client).await;
    } else {
        watch_pods(client, &flag("namespace", "")).await;
    }
    Ok(())
}

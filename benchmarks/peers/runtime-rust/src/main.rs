// SPDX-License-Identifier: Apache-2.0

//! The operator of benchmarks/runtime on kube-rs: the same modes, flags and lines of output as
//! benchmarks/runtime/operator.cpp, which documents them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::time::Duration;

use futures::{future, StreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Api, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::controller::{self, Action, Controller};
use kube::runtime::{reflector, watcher, WatchStreamExt};
use kube::{Client, Config, CustomResource, ResourceExt};
use measure::{cpu_seconds, flag, now};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{signal, SignalKind};

const WAIT: Duration = Duration::from_millis(100);

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "bench.evenkeel.dev",
    version = "v1",
    kind = "Gadget",
    namespaced,
    status = "GadgetStatus"
)]
#[serde(rename_all = "camelCase")]
struct GadgetSpec {
    size: i64,
    color: Option<String>,
    labels: Option<HashMap<String, String>>,
    sent_at: Option<i64>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GadgetStatus {
    observed: Option<i64>,
    phase: Option<String>,
}

/// Measures the time from the first reconcile to the one that completes the work.
struct Stretch {
    wanted: i64,
    count: AtomicI64,
    once: Once,
    start: Mutex<(i64, f64)>,
}

impl Stretch {
    fn begin(&self) {
        self.once.call_once(|| {
            let start = (now(), cpu_seconds());
            *self.start.lock().unwrap() = start;
            println!(
                "{}",
                serde_json::json!({"event": "first", "at_ns": start.0})
            );
        });
    }

    fn step(&self) {
        if self.count.fetch_add(1, Ordering::SeqCst) + 1 == self.wanted {
            let (start, cpu) = *self.start.lock().unwrap();
            println!(
                "{}",
                serde_json::json!({"event": "done", "reconciles": self.wanted,
                    "seconds": (now() - start) as f64 / 1e9, "cpu_s": cpu_seconds() - cpu})
            );
        }
    }
}

/// Samples of mode latency.
#[derive(Default)]
struct Samples {
    values: Vec<(i64, i64)>,
    seen: HashMap<String, i64>,
    first: f64,
    last: f64,
    said_ready: bool,
}

impl Samples {
    fn take(&mut self, objects: usize, name: String, sent: i64, at: i64) {
        let before = self.seen.insert(name, sent);
        if !self.said_ready && self.seen.len() == objects {
            self.said_ready = true;
            println!("{}", serde_json::json!({"event": "ready"}));
        }
        if before.is_none() || before == Some(sent) {
            return;
        }
        if self.values.is_empty() {
            self.first = cpu_seconds();
        }
        self.values.push((sent, at));
        self.last = cpu_seconds();
    }

    fn report(&self) {
        if self.values.is_empty() {
            return;
        }
        println!(
            "{}",
            serde_json::json!({"event": "latency", "seen": self.values, "cpu_s": self.last - self.first})
        );
    }
}

struct Operator {
    mode: String,
    objects: usize,
    rounds: i64,
    token: i64,
    begins: tokio::time::Instant,
    gadgets: Client,
    stretch: Stretch,
    samples: Mutex<Samples>,
    runs: Mutex<HashMap<String, i64>>,
}

impl Operator {
    fn again(&self, name: String) -> bool {
        if self.rounds == 1 {
            return false;
        }
        let mut runs = self.runs.lock().unwrap();
        let count = runs.entry(name).or_insert(0);
        *count += 1;
        *count < self.rounds
    }

    async fn patch_status(&self, gadget: &Gadget) -> Result<(), kube::Error> {
        if gadget.status.as_ref().and_then(|status| status.observed) == Some(self.token) {
            return Ok(());
        }
        let api: Api<Gadget> = Api::namespaced(
            self.gadgets.clone(),
            &gadget.namespace().unwrap_or_default(),
        );
        let patch = serde_json::json!({"status": {"observed": self.token, "phase": "Ready"}});
        api.patch_status(
            &gadget.name_any(),
            &PatchParams::default(),
            &Patch::Merge(&patch),
        )
        .await?;
        self.stretch.step();
        Ok(())
    }
}

async fn reconcile(gadget: Arc<Gadget>, operator: Arc<Operator>) -> Result<Action, kube::Error> {
    if operator.mode == "status" {
        tokio::time::sleep_until(operator.begins).await;
    }
    let at = now();
    operator.stretch.begin();
    match operator.mode.as_str() {
        "latency" => {
            let sent = gadget.spec.sent_at.unwrap_or(0);
            operator
                .samples
                .lock()
                .unwrap()
                .take(operator.objects, gadget.name_any(), sent, at);
        }
        "empty" => {
            operator.stretch.step();
            if operator.again(gadget.name_any()) {
                return Ok(Action::requeue(Duration::from_millis(1)));
            }
        }
        "status" => operator.patch_status(&gadget).await?,
        "wait" => {
            tokio::time::sleep(WAIT).await;
            operator.stretch.step();
        }
        _ => {}
    }
    Ok(Action::await_change())
}

async fn reconcile_map(_: Arc<ConfigMap>, operator: Arc<Operator>) -> Result<Action, kube::Error> {
    operator.stretch.begin();
    Ok(Action::await_change())
}

fn retry<K>(_: Arc<K>, _: &kube::Error, _: Arc<Operator>) -> Action {
    Action::requeue(Duration::from_millis(5))
}

/// Keeps the Secrets of empty namespaces in stores.
fn watch_silent_namespaces(client: &Client, watches: i64) {
    for at in 0..watches {
        let secrets: Api<Secret> = Api::namespaced(client.clone(), &format!("silent-{at}"));
        let (_, writer) = reflector::store();
        let stream = watcher(secrets, watcher::Config::default())
            .default_backoff()
            .reflect(writer);
        tokio::spawn(stream.for_each(|_| future::ready(())));
    }
}

fn number(name: &str, default: i64) -> Result<i64, std::num::ParseIntError> {
    flag(name, &default.to_string()).parse()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::from_custom_kubeconfig(
        Kubeconfig::read_from(flag("server", ""))?,
        &KubeConfigOptions::default(),
    )
    .await?;
    let client = Client::try_from(config)?;
    watch_silent_namespaces(&client, number("watches", 0)?);
    let (objects, rounds, workers) = (
        number("objects", 1)?,
        number("rounds", 1)?,
        number("workers", 1)?,
    );
    let operator = Arc::new(Operator {
        mode: flag("mode", "start"),
        objects: objects as usize,
        rounds,
        token: number("token", 1)?,
        begins: tokio::time::Instant::now() + Duration::from_millis(number("after-ms", 0)? as u64),
        gadgets: client.clone(),
        stretch: Stretch {
            wanted: objects * rounds,
            count: AtomicI64::new(0),
            once: Once::new(),
            start: Mutex::new((0, 0.0)),
        },
        samples: Mutex::default(),
        runs: Mutex::default(),
    });
    let mut stop = signal(SignalKind::terminate())?;
    let settings = controller::Config::default().concurrency(workers as u16);
    let work = async {
        if operator.mode == "start" {
            Controller::new(Api::<ConfigMap>::all(client), watcher::Config::default())
                .with_config(settings)
                .run(reconcile_map, retry, operator.clone())
                .for_each(|_| future::ready(()))
                .await;
        } else {
            Controller::new(Api::<Gadget>::all(client), watcher::Config::default())
                .with_config(settings)
                .run(reconcile, retry, operator.clone())
                .for_each(|_| future::ready(()))
                .await;
        }
    };
    tokio::select! {
        () = work => {}
        _ = stop.recv() => {}
    }
    operator.samples.lock().unwrap().report();
    Ok(())
}

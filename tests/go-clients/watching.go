// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	newevents "k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	toolswatch "k8s.io/client-go/tools/watch"
)

func (t *tester) sayEvent(what string, event watch.Event) {
	switch object := event.Object.(type) {
	case *corev1.ConfigMap:
		t.say("%s: %s %q %v %v", what, event.Type, object.Name, object.Data, object.Annotations)
	case *metav1.Status:
		t.say("%s: %s %d %s %s", what, event.Type, object.Code, object.Reason, object.Message)
	default:
		t.say("%s: %s %T", what, event.Type, event.Object)
	}
}

// changes makes four changes to two ConfigMaps, one of which has the label that watches select.
func changes(t *tester) {
	maps := t.clients.CoreV1().ConfigMaps(t.namespace)
	a := configMap("a", map[string]string{"n": "1"})
	a.Labels = map[string]string{"app": "web"}
	a = must[*corev1.ConfigMap](t)(maps.Create(t, a, metav1.CreateOptions{}))
	must[*corev1.ConfigMap](t)(maps.Create(t, configMap("b", nil), metav1.CreateOptions{}))
	a.Data["n"] = "2"
	a = must[*corev1.ConfigMap](t)(maps.Update(t, a, metav1.UpdateOptions{}))
	a.Labels = nil
	must[*corev1.ConfigMap](t)(maps.Update(t, a, metav1.UpdateOptions{}))
	t.must(maps.Delete(t, "a", metav1.DeleteOptions{}))
}

func watches(t *tester) {
	maps := t.clients.CoreV1().ConfigMaps(t.namespace)
	from := must[*corev1.ConfigMapList](t)(maps.List(t, metav1.ListOptions{})).ResourceVersion
	all := must[watch.Interface](t)(maps.Watch(t, metav1.ListOptions{ResourceVersion: from, AllowWatchBookmarks: true}))
	selected := must[watch.Interface](t)(maps.Watch(t, metav1.ListOptions{ResourceVersion: from, LabelSelector: "app=web"}))
	one := must[watch.Interface](t)(maps.Watch(t, metav1.ListOptions{ResourceVersion: from, FieldSelector: "metadata.name=b"}))
	changes(t)
	for range 5 {
		t.sayEvent("all", next(t, "an event", all.ResultChan()))
	}
	for range 3 {
		t.sayEvent("selected", next(t, "an event", selected.ResultChan()))
	}
	t.sayEvent("one", next(t, "an event", one.ResultChan()))
	again := must[watch.Interface](t)(maps.Watch(t, metav1.ListOptions{ResourceVersion: from}))
	for range 5 {
		t.sayEvent("again", next(t, "an event", again.ResultChan()))
	}
	now := must[watch.Interface](t)(maps.Watch(t, metav1.ListOptions{}))
	t.sayEvent("from nothing", next(t, "an event", now.ResultChan()))
	seconds := int64(1)
	short := must[watch.Interface](t)(maps.Watch(t, metav1.ListOptions{ResourceVersion: from, TimeoutSeconds: &seconds, FieldSelector: "metadata.name=c"}))
	_, open := <-short.ResultChan()
	t.say("after its timeout the watch is open: %t", open)
	_, err := maps.Watch(t, metav1.ListOptions{ResourceVersion: "nonsense"})
	t.fails("a version that is none", err)

	until, err := toolswatch.NewRetryWatcherWithContext(t, from, &cache.ListWatch{WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		return maps.Watch(ctx, options)
	}})
	t.must(err)
	for range 5 {
		t.sayEvent("retrying", next(t, "an event", until.ResultChan()))
	}
}

func streamingList(t *tester) {
	maps := t.clients.CoreV1().ConfigMaps(t.namespace)
	for _, name := range []string{"a", "b"} {
		must[*corev1.ConfigMap](t)(maps.Create(t, configMap(name, nil), metav1.CreateOptions{}))
	}
	yes := true
	options := metav1.ListOptions{SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}
	stream := must[watch.Interface](t)(maps.Watch(t, options))
	for range 3 {
		t.sayEvent("stream", next(t, "an event", stream.ResultChan()))
	}
	must[*corev1.ConfigMap](t)(maps.Create(t, configMap("c", nil), metav1.CreateOptions{}))
	t.sayEvent("stream", next(t, "an event", stream.ResultChan()))
	options.AllowWatchBookmarks = false
	_, err := maps.Watch(t, options)
	t.say("without bookmarks: refused %t", err != nil)
	options.ResourceVersionMatch = ""
	_, err = maps.Watch(t, options)
	t.fails("without a match", err)
}

func informer(t *tester) {
	factory := informers.NewSharedInformerFactoryWithOptions(t.clients, 0, informers.WithNamespace(t.namespace))
	informs(t, factory.Core().V1().ConfigMaps().Informer())
}

// paged lists as client-go did before it knew of streaming lists.
type paged struct{ *cache.ListWatch }

func (paged) IsWatchListSemanticsUnSupported() bool { return true }

func informerWithoutStreaming(t *tester) {
	maps := t.clients.CoreV1().ConfigMaps(t.namespace)
	lister := paged{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return maps.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return maps.Watch(ctx, options)
		}}}
	informs(t, cache.NewSharedIndexInformer(lister, &corev1.ConfigMap{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
}

func informs(t *tester, shared cache.SharedIndexInformer) {
	maps := t.clients.CoreV1().ConfigMaps(t.namespace)
	must[*corev1.ConfigMap](t)(maps.Create(t, configMap("before", nil), metav1.CreateOptions{}))
	// An informer lists what the server's watch cache has, which may be a moment older.
	t.eventually("the watch cache has the object", func() (bool, error) {
		list, err := maps.List(t, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(list.Items, func(item corev1.ConfigMap) bool { return item.Name == "before" }), nil
	})
	told := make(chan string, 100)
	must[cache.ResourceEventHandlerRegistration](t)(shared.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			told <- fmt.Sprintf("added %s, at first %t", object.(*corev1.ConfigMap).Name, initial)
		},
		UpdateFunc: func(old, object any) {
			told <- fmt.Sprintf("updated %s: %v to %v", object.(*corev1.ConfigMap).Name, old.(*corev1.ConfigMap).Data, object.(*corev1.ConfigMap).Data)
		},
		DeleteFunc: func(object any) { told <- "deleted " + object.(*corev1.ConfigMap).Name },
	}))
	go shared.RunWithContext(t)
	if !cache.WaitForCacheSync(t.Done(), shared.HasSynced) {
		t.must(fmt.Errorf("the cache did not sync"))
	}
	t.say("%s", next(t, "what was there", told))
	changes(t)
	for range 5 {
		t.say("%s", next(t, "a change", told))
	}
	keys := shared.GetStore().ListKeys()
	t.say("%d in the store; by namespace %d; newest version known %t", len(keys), len(must[[]any](t)(shared.GetIndexer().ByIndex(cache.NamespaceIndex, t.namespace))),
		shared.LastSyncResourceVersion() != "")
	lister := cache.NewGenericLister(shared.GetIndexer(), corev1.Resource("configmaps"))
	t.say("%d listed", len(must[[]runtime.Object](t)(lister.ByNamespace(t.namespace).List(labels.Everything()))))
}

func leaderElection(t *tester) {
	told := make(chan string, 10)
	candidate := func(name string) context.CancelFunc {
		ctx, stop := context.WithCancel(t)
		lock := &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Name: "lock", Namespace: t.namespace}, Client: t.clients.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name}}
		elector := must[*leaderelection.LeaderElector](t)(leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: lock, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 100 * time.Millisecond, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { told <- name + " leads" },
				OnStoppedLeading: func() { told <- name + " leads no more" },
			}}))
		go elector.Run(ctx)
		return stop
	}
	stopFirst := candidate("first")
	t.say("%s", next(t, "the first to lead", told))
	stopSecond := candidate("second")
	lease := func() *coordinationv1.Lease {
		return must[*coordinationv1.Lease](t)(t.clients.CoordinationV1().Leases(t.namespace).Get(t, "lock", metav1.GetOptions{}))
	}
	renewed := lease().Spec.RenewTime
	t.eventually("the lease is renewed", func() (bool, error) { return lease().Spec.RenewTime.After(renewed.Time), nil })
	t.say("holder %s, transitions %d, seconds %d", *lease().Spec.HolderIdentity, *lease().Spec.LeaseTransitions, *lease().Spec.LeaseDurationSeconds)
	stopFirst()
	both := map[string]bool{next(t, "the hand-over", told): true, next(t, "the hand-over", told): true}
	t.say("handed over: %t", both["first leads no more"] && both["second leads"])
	t.say("holder %s, transitions %d", *lease().Spec.HolderIdentity, *lease().Spec.LeaseTransitions)
	stopSecond()
	t.say("%s", next(t, "the second to end", told))
}

func events(t *tester) {
	object := must[*corev1.ConfigMap](t)(t.clients.CoreV1().ConfigMaps(t.namespace).Create(t, configMap("a", nil), metav1.CreateOptions{}))
	broadcaster := record.NewBroadcaster(record.WithContext(t))
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: t.clients.CoreV1().Events(t.namespace)})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "tests"})
	for range 3 {
		recorder.Event(object, corev1.EventTypeNormal, "Repeated", "It happened.")
	}
	recorder.Eventf(object, corev1.EventTypeWarning, "Once", "It went %s.", "wrong")
	t.eventually("both events are there, one counted three times", func() (bool, error) {
		list := must[*corev1.EventList](t)(t.clients.CoreV1().Events(t.namespace).List(t, metav1.ListOptions{}))
		return len(list.Items) == 2 && list.Items[0].Count+list.Items[1].Count == 4, nil
	})
	for _, selector := range []string{"reason=Repeated", "type=Warning", "involvedObject.name=a,reason=Once", "involvedObject.kind=Pod"} {
		list := must[*corev1.EventList](t)(t.clients.CoreV1().Events(t.namespace).List(t, metav1.ListOptions{FieldSelector: selector}))
		t.say("%s: %d", selector, len(list.Items))
		for _, event := range list.Items {
			t.say("%s %s %q %d %s %s %s", event.Type, event.Reason, event.Message, event.Count, event.InvolvedObject.Kind, event.InvolvedObject.Name, event.Source.Component)
		}
	}
	newer := newevents.NewBroadcaster(&newevents.EventSinkImpl{Interface: t.clients.EventsV1()})
	t.must(newer.StartRecordingToSinkWithContext(t))
	series := newer.NewRecorder(scheme.Scheme, "tests.example.com/controller")
	for range 3 {
		series.Eventf(object, nil, corev1.EventTypeNormal, "Series", "Doing", "It happened %s.", "again")
	}
	t.eventually("the series is there", func() (bool, error) {
		list := must[*eventsv1.EventList](t)(t.clients.EventsV1().Events(t.namespace).List(t, metav1.ListOptions{FieldSelector: "reason=Series"}))
		return len(list.Items) == 1 && list.Items[0].Series != nil, nil
	})
	list := must[*eventsv1.EventList](t)(t.clients.EventsV1().Events(t.namespace).List(t, metav1.ListOptions{FieldSelector: "reason=Series"}))
	t.say("%s %s by %s about %s", list.Items[0].Note, list.Items[0].Action, list.Items[0].ReportingController, list.Items[0].Regarding.Name)
	broadcaster.Shutdown()
}

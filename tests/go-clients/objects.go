// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
)

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

// reason tells how the errors package sees an error: what operators branch on.
func reason(err error) string {
	tests := []struct {
		name string
		is   func(error) bool
	}{
		{"NotFound", apierrors.IsNotFound}, {"AlreadyExists", apierrors.IsAlreadyExists}, {"Conflict", apierrors.IsConflict},
		{"Invalid", apierrors.IsInvalid}, {"BadRequest", apierrors.IsBadRequest}, {"Forbidden", apierrors.IsForbidden},
		{"Unauthorized", apierrors.IsUnauthorized}, {"ResourceExpired", apierrors.IsResourceExpired}, {"Gone", apierrors.IsGone},
		{"MethodNotSupported", apierrors.IsMethodNotSupported}, {"NotAcceptable", apierrors.IsNotAcceptable},
		{"UnsupportedMediaType", apierrors.IsUnsupportedMediaType}, {"RequestEntityTooLarge", apierrors.IsRequestEntityTooLargeError},
	}
	var found []string
	for _, test := range tests {
		if test.is(err) {
			found = append(found, test.name)
		}
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		details := status.Status().Details
		found = append(found, fmt.Sprintf("details %s/%s/%s", details.Group, details.Kind, details.Name))
		for _, cause := range details.Causes {
			found = append(found, fmt.Sprintf("cause %s %s %q", cause.Type, cause.Field, cause.Message))
		}
	}
	return strings.Join(found, "; ")
}

func (t *tester) fails(what string, err error) {
	t.refused(what, err)
	t.say("  %s", reason(err))
}

func typed(t *tester) {
	maps := t.clients.CoreV1().ConfigMaps(t.namespace)
	made := must[*corev1.ConfigMap](t)(maps.Create(t, configMap("a", map[string]string{"k": "v"}), metav1.CreateOptions{}))
	t.say("created %s, version %t, uid %t, time %t, generation %d, kind %q", made.Name, made.ResourceVersion != "",
		made.UID != "", !made.CreationTimestamp.IsZero(), made.Generation, made.Kind)
	for _, field := range made.ManagedFields {
		t.say("managed by %s: %s %s %s", field.Manager, field.Operation, field.APIVersion, field.FieldsV1)
	}
	_, err := maps.Create(t, configMap("a", nil), metav1.CreateOptions{})
	t.fails("create twice", err)
	_, err = maps.Create(t, configMap("Not_A_Name", nil), metav1.CreateOptions{})
	t.fails("create with a bad name", err)
	_, err = maps.Create(t, &corev1.ConfigMap{}, metav1.CreateOptions{})
	t.fails("create without a name", err)
	_, err = maps.Get(t, "nope", metav1.GetOptions{})
	t.fails("get what is not there", err)
	_, err = maps.Update(t, configMap("nope", nil), metav1.UpdateOptions{})
	t.fails("update what is not there", err)
	t.fails("delete what is not there", maps.Delete(t, "nope", metav1.DeleteOptions{}))
	_, err = t.clients.CoreV1().ConfigMaps("nowhere").Create(t, configMap("a", nil), metav1.CreateOptions{})
	t.fails("create in no namespace", err)

	made.Data["l"] = "w"
	changed := must[*corev1.ConfigMap](t)(maps.Update(t, made, metav1.UpdateOptions{}))
	t.say("updated: %v, newer %t", changed.Data, changed.ResourceVersion != made.ResourceVersion)
	same := must[*corev1.ConfigMap](t)(maps.Update(t, changed, metav1.UpdateOptions{}))
	t.say("updated with nothing new: newer %t", same.ResourceVersion != changed.ResourceVersion)
	dry := must[*corev1.ConfigMap](t)(maps.Create(t, configMap("dry", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}))
	_, err = maps.Get(t, "dry", metav1.GetOptions{})
	t.say("dry run: uid %t, then %s", dry.UID != "", reason(err))
	named := must[*corev1.ConfigMap](t)(maps.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "gen-"}}, metav1.CreateOptions{}))
	t.say("generated name: %t, %d letters", strings.HasPrefix(named.Name, "gen-"), len(named.Name))

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}}
	created := must[*corev1.Pod](t)(t.clients.CoreV1().Pods(t.namespace).Create(t, pod, metav1.CreateOptions{}))
	t.say("pod: phase %s, restart %s, pull %s, dns %s, qos %s", created.Status.Phase, created.Spec.RestartPolicy,
		created.Spec.Containers[0].ImagePullPolicy, created.Spec.DNSPolicy, created.Status.QOSClass)
	pod.Name, pod.Spec.Containers[0].Name = "bad", "Not A Name"
	_, err = t.clients.CoreV1().Pods(t.namespace).Create(t, pod, metav1.CreateOptions{})
	t.fails("bad pod", err)
}

func conflicts(t *tester) {
	maps := t.clients.CoreV1().ConfigMaps(t.namespace)
	old := must[*corev1.ConfigMap](t)(maps.Create(t, configMap("a", map[string]string{"n": "0"}), metav1.CreateOptions{}))
	newer := old.DeepCopy()
	newer.Data["n"] = "1"
	must[*corev1.ConfigMap](t)(maps.Update(t, newer, metav1.UpdateOptions{}))
	old.Data["n"] = "2"
	_, err := maps.Update(t, old, metav1.UpdateOptions{})
	t.fails("update of an old version", err)
	tries := 0
	t.must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		tries++
		if tries > 1 {
			old = must[*corev1.ConfigMap](t)(maps.Get(t, "a", metav1.GetOptions{}))
		}
		old.Data["n"] = "3"
		_, err := maps.Update(t, old, metav1.UpdateOptions{})
		return err
	}))
	t.say("retried: %d tries", tries)
	unconditional := configMap("a", map[string]string{"n": "4"})
	must[*corev1.ConfigMap](t)(maps.Update(t, unconditional, metav1.UpdateOptions{}))
	other := types.UID("00000000-0000-0000-0000-000000000000")
	t.fails("delete with another uid", maps.Delete(t, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}))
	version := "1"
	t.fails("delete of another version", maps.Delete(t, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}}))
}

func names(items []corev1.ConfigMap) string {
	var found []string
	for _, item := range items {
		found = append(found, item.Name)
	}
	sort.Strings(found)
	return strings.Join(found, " ")
}

func paging(t *tester) {
	maps := t.clients.CoreV1().ConfigMaps(t.namespace)
	for n := range 7 {
		object := configMap(fmt.Sprintf("m%d", n), nil)
		object.Labels = map[string]string{"odd": fmt.Sprint(n%2 == 1)}
		must[*corev1.ConfigMap](t)(maps.Create(t, object, metav1.CreateOptions{}))
	}
	options := metav1.ListOptions{Limit: 3}
	version := ""
	for page := 1; page == 1 || options.Continue != ""; page++ {
		list := must[*corev1.ConfigMapList](t)(maps.List(t, options))
		remaining := "none"
		if list.RemainingItemCount != nil {
			remaining = fmt.Sprint(*list.RemainingItemCount)
		}
		t.say("page %d: %s; remaining %s, more %t, same version %t", page, names(list.Items), remaining, list.Continue != "",
			version == "" || version == list.ResourceVersion)
		version, options.Continue = list.ResourceVersion, list.Continue
		if page == 1 {
			must[*corev1.ConfigMap](t)(maps.Create(t, configMap("m9", nil), metav1.CreateOptions{})) // not part of this list
		}
	}
	_, err := maps.List(t, metav1.ListOptions{Continue: "nonsense", Limit: 1})
	t.fails("a made-up continue", err)
	_, err = maps.List(t, metav1.ListOptions{LabelSelector: "a in b"})
	t.fails("a bad selector", err)
	_, err = maps.List(t, metav1.ListOptions{FieldSelector: "data.k=v"})
	t.fails("a bad field", err)
	odd := must[*corev1.ConfigMapList](t)(maps.List(t, metav1.ListOptions{LabelSelector: labels.Set{"odd": "true"}.String(), Limit: 2}))
	t.say("selected: %s, remaining %t, more %t", names(odd.Items), odd.RemainingItemCount != nil, odd.Continue != "")
	count := 0
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return maps.List(ctx, options)
	})
	pages.PageSize = 2
	t.must(pages.EachListItem(t, metav1.ListOptions{}, func(runtime.Object) error { count++; return nil }))
	t.say("the pager saw %d", count)
	cached := must[*corev1.ConfigMapList](t)(maps.List(t, metav1.ListOptions{ResourceVersion: "0"}))
	t.say("from the cache: %d", len(cached.Items))
}

func patches(t *tester) {
	maps := t.clients.CoreV1().ConfigMaps(t.namespace)
	must[*corev1.ConfigMap](t)(maps.Create(t, configMap("a", map[string]string{"k": "v"}), metav1.CreateOptions{}))
	for _, one := range []struct {
		kind types.PatchType
		text string
	}{
		{types.MergePatchType, `{"data":{"m":"1","k":null}}`},
		{types.StrategicMergePatchType, `{"data":{"s":"2"},"metadata":{"labels":{"a":"b"}}}`},
		{types.JSONPatchType, `[{"op":"add","path":"/data/j","value":"3"}]`},
		{types.JSONPatchType, `[{"op":"test","path":"/data/j","value":"4"}]`},
		{types.JSONPatchType, `[{"op":"remove","path":"/data/nope"}]`},
		{types.MergePatchType, `{"metadata":{"uid":"other"}}`},
		{types.MergePatchType, `[`},
		{types.PatchType("application/nonsense"), `{}`},
	} {
		changed, err := maps.Patch(t, "a", one.kind, []byte(one.text), metav1.PatchOptions{FieldManager: "patcher"})
		if err != nil {
			t.fails(string(one.kind)+" "+one.text, err)
		} else {
			t.say("%s %s: %v %v", one.kind, one.text, changed.Data, changed.Labels)
		}
	}
	sets := t.clients.AppsV1().StatefulSets(t.namespace)
	must[*appsv1.StatefulSet](t)(sets.Create(t, statefulSet("s"), metav1.CreateOptions{}))
	patch := `{"spec":{"template":{"spec":{"containers":[{"name":"main","env":[{"name":"A","value":"1"}]},{"name":"side","image":"b"}]}}}}`
	changed := must[*appsv1.StatefulSet](t)(sets.Patch(t, "s", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}))
	for _, container := range changed.Spec.Template.Spec.Containers {
		t.say("container %s: %s %v", container.Name, container.Image, container.Env)
	}
	t.say("generation %d", changed.Generation)
}

func statefulSet(name string) *appsv1.StatefulSet {
	replicas := int32(1)
	app := map[string]string{"app": name}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "a"}}}}}}
}

func apply(t *tester) {
	maps := t.clients.CoreV1().ConfigMaps(t.namespace)
	wanted := func(value string) *corev1apply.ConfigMapApplyConfiguration {
		return corev1apply.ConfigMap("a", t.namespace).WithData(map[string]string{"k": value})
	}
	must[*corev1.ConfigMap](t)(maps.Apply(t, wanted("1").WithLabels(map[string]string{"by": "one"}), metav1.ApplyOptions{FieldManager: "one"}))
	_, err := maps.Apply(t, wanted("2"), metav1.ApplyOptions{FieldManager: "two"})
	t.fails("apply what another manager has", err)
	_, err = maps.Apply(t, wanted("1"), metav1.ApplyOptions{})
	t.fails("apply without a manager", err)
	taken := must[*corev1.ConfigMap](t)(maps.Apply(t, wanted("2"), metav1.ApplyOptions{FieldManager: "two", Force: true}))
	for _, field := range taken.ManagedFields {
		t.say("%s %s: %s", field.Manager, field.Operation, field.FieldsV1)
	}
	for _, manager := range []string{"one", "two", "three"} {
		extracted := must[*corev1apply.ConfigMapApplyConfiguration](t)(corev1apply.ExtractConfigMap(taken, manager))
		t.say("extracted for %s: %s", manager, must[[]byte](t)(json.Marshal(extracted)))
	}
	less := must[*corev1.ConfigMap](t)(maps.Apply(t, corev1apply.ConfigMap("a", t.namespace), metav1.ApplyOptions{FieldManager: "one"}))
	t.say("one lets go: %v %v", less.Labels, less.Data)
	before := less.ResourceVersion
	same := must[*corev1.ConfigMap](t)(maps.Apply(t, wanted("2"), metav1.ApplyOptions{FieldManager: "two"}))
	t.say("applied again: newer %t", same.ResourceVersion != before)
	same.Data["k"] = "3"
	updated := must[*corev1.ConfigMap](t)(maps.Update(t, same, metav1.UpdateOptions{FieldManager: "three"}))
	for _, field := range updated.ManagedFields {
		t.say("%s %s: %s", field.Manager, field.Operation, field.FieldsV1)
	}
	_, err = maps.Apply(t, wanted("2"), metav1.ApplyOptions{FieldManager: "two"})
	t.fails("apply what was updated", err)
	service := corev1apply.Service("s", t.namespace).WithSpec(corev1apply.ServiceSpec().WithSelector(map[string]string{"a": "b"}).
		WithPorts(corev1apply.ServicePort().WithName("http").WithPort(80)))
	applied := must[*corev1.Service](t)(t.clients.CoreV1().Services(t.namespace).Apply(t, service, metav1.ApplyOptions{FieldManager: "one"}))
	t.say("service: %s %v", applied.Spec.Type, applied.Spec.Ports)
}

func subresources(t *tester) {
	sets := t.clients.AppsV1().StatefulSets(t.namespace)
	set := must[*appsv1.StatefulSet](t)(sets.Create(t, statefulSet("s"), metav1.CreateOptions{}))
	set.Status.Replicas, set.Status.ReadyReplicas = 1, 1
	replicas := int32(5)
	set.Spec.Replicas = &replicas
	set = must[*appsv1.StatefulSet](t)(sets.UpdateStatus(t, set, metav1.UpdateOptions{}))
	t.say("status: ready %d, replicas %d, generation %d", set.Status.ReadyReplicas, *set.Spec.Replicas, set.Generation)
	set.Status.ReadyReplicas = 7
	set.Spec.Replicas = &replicas
	set = must[*appsv1.StatefulSet](t)(sets.Update(t, set, metav1.UpdateOptions{}))
	t.say("main: ready %d, replicas %d, generation %d", set.Status.ReadyReplicas, *set.Spec.Replicas, set.Generation)
	scale := must[*autoscalingv1.Scale](t)(sets.GetScale(t, "s", metav1.GetOptions{}))
	t.say("scale: %d of %d, selector %s", scale.Status.Replicas, scale.Spec.Replicas, scale.Status.Selector)
	scale.Spec.Replicas = 2
	scale = must[*autoscalingv1.Scale](t)(sets.UpdateScale(t, "s", scale, metav1.UpdateOptions{}))
	set = must[*appsv1.StatefulSet](t)(sets.Get(t, "s", metav1.GetOptions{}))
	t.say("scaled: %d, %d, generation %d", scale.Spec.Replicas, *set.Spec.Replicas, set.Generation)
	scale.ResourceVersion = "1"
	_, err := sets.UpdateScale(t, "s", scale, metav1.UpdateOptions{})
	t.fails("scale of an old version", err)
	_, err = sets.GetScale(t, "nope", metav1.GetOptions{})
	t.fails("scale of nothing", err)

	pods := t.clients.CoreV1().Pods(t.namespace)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"app": "s"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}}}
	must[*corev1.Pod](t)(pods.Create(t, pod, metav1.CreateOptions{}))
	t.must(pods.Bind(t, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}, metav1.CreateOptions{}))
	bound := must[*corev1.Pod](t)(pods.Get(t, "p", metav1.GetOptions{}))
	t.say("bound to %q, conditions %v", bound.Spec.NodeName, conditionNames(bound))
	bound.Status.Phase = corev1.PodRunning
	bound.Status.Conditions = append(bound.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	bound = must[*corev1.Pod](t)(pods.UpdateStatus(t, bound, metav1.UpdateOptions{}))
	t.say("running: %s %v", bound.Status.Phase, conditionNames(bound))
	zero := int64(0)
	t.must(pods.EvictV1(t, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}, DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: &zero}}))
	t.eventually("the evicted Pod is gone", func() (bool, error) {
		_, err := pods.Get(t, "p", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

func conditionNames(pod *corev1.Pod) (found []string) {
	for _, condition := range pod.Status.Conditions {
		found = append(found, fmt.Sprintf("%s=%s", condition.Type, condition.Status))
	}
	return found
}

func deletion(t *tester) {
	maps := t.clients.CoreV1().ConfigMaps(t.namespace)
	for _, name := range []string{"a", "b", "c", "owner"} {
		object := configMap(name, nil)
		object.Labels = map[string]string{"group": map[bool]string{true: "first", false: "second"}[name < "c"]}
		must[*corev1.ConfigMap](t)(maps.Create(t, object, metav1.CreateOptions{}))
	}
	t.must(maps.DeleteCollection(t, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "group=first"}))
	t.say("left: %s", names(must[*corev1.ConfigMapList](t)(maps.List(t, metav1.ListOptions{})).Items))

	held := configMap("held", nil)
	held.Finalizers = []string{"example.com/hold"}
	held = must[*corev1.ConfigMap](t)(maps.Create(t, held, metav1.CreateOptions{}))
	t.must(maps.Delete(t, "held", metav1.DeleteOptions{}))
	held = must[*corev1.ConfigMap](t)(maps.Get(t, "held", metav1.GetOptions{}))
	t.say("held: deleted %t, grace %d, finalizers %v", held.DeletionTimestamp != nil, *held.DeletionGracePeriodSeconds, held.Finalizers)
	held.Finalizers = append(held.Finalizers, "example.com/more")
	_, err := maps.Update(t, held, metav1.UpdateOptions{})
	t.fails("another finalizer", err)
	held.Finalizers = nil
	must[*corev1.ConfigMap](t)(maps.Update(t, held, metav1.UpdateOptions{}))
	_, err = maps.Get(t, "held", metav1.GetOptions{})
	t.say("held: %s", reason(err))

	owner := must[*corev1.ConfigMap](t)(maps.Get(t, "owner", metav1.GetOptions{}))
	owned := configMap("owned", nil)
	owned.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	must[*corev1.ConfigMap](t)(maps.Create(t, owned, metav1.CreateOptions{}))
	foreground := metav1.DeletePropagationForeground
	t.must(maps.Delete(t, "owner", metav1.DeleteOptions{PropagationPolicy: &foreground}))
	t.eventually("owner and owned are gone", func() (bool, error) {
		list := must[*corev1.ConfigMapList](t)(maps.List(t, metav1.ListOptions{}))
		return names(list.Items) == "c", nil
	})
	orphan := metav1.DeletionPropagation("Nonsense")
	t.fails("a policy there is not", maps.Delete(t, "c", metav1.DeleteOptions{PropagationPolicy: &orphan}))
	t.must(t.clients.CoreV1().Namespaces().Delete(t, t.namespace, metav1.DeleteOptions{}))
	t.eventually("the namespace is gone", func() (bool, error) {
		_, err := t.clients.CoreV1().Namespaces().Get(t, t.namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

func limits(t *tester) {
	maps := t.clients.CoreV1().ConfigMaps(t.namespace)
	_, err := maps.Create(t, configMap("big", map[string]string{"k": strings.Repeat("x", 1<<20+1)}), metav1.CreateOptions{})
	t.fails("a ConfigMap of more than 1 MiB", err)
	_, err = maps.Create(t, configMap("huge", map[string]string{"k": strings.Repeat("x", 4<<20)}), metav1.CreateOptions{})
	t.refused("a ConfigMap of 4 MiB", err)
	long := configMap("long", nil)
	long.Annotations = map[string]string{"a": strings.Repeat("x", 256<<10)}
	_, err = maps.Create(t, long, metav1.CreateOptions{})
	t.fails("annotations of more than 256 KiB", err)
}

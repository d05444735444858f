// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"sigs.k8s.io/yaml"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 0, maximum: 9}
              color: {type: string, default: red}
          status:
            type: object
            properties:
              size: {type: integer}
              phase: {type: string}
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}
`

func parsed(t *tester, text string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	t.must(yaml.Unmarshal([]byte(text), &object.Object))
	return object
}

// defineWidgets creates the CRD in a group of the scenario's own and waits until it is served.
func defineWidgets(t *tester) schema.GroupVersionResource {
	group := t.namespace + ".example.com"
	client := must[*dynamic.DynamicClient](t)(dynamic.NewForConfig(t.config))
	object := parsed(t, strings.ReplaceAll(definition, "GROUP", group))
	must[*unstructured.Unstructured](t)(client.Resource(definitions).Create(t, object, metav1.CreateOptions{}))
	t.eventually("the definition is established", func() (bool, error) {
		found := must[*unstructured.Unstructured](t)(client.Resource(definitions).Get(t, object.GetName(), metav1.GetOptions{}))
		conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
		for _, condition := range conditions {
			if entry := condition.(map[string]any); entry["type"] == "Established" && entry["status"] == "True" {
				return true, nil
			}
		}
		return false, nil
	})
	widgets := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
	t.eventually("widgets are served", func() (bool, error) {
		_, err := client.Resource(widgets).Namespace(t.namespace).List(t, metav1.ListOptions{})
		return err == nil, nil
	})
	t.eventually("widgets are in discovery", func() (bool, error) {
		_, err := t.clients.Discovery().ServerResourcesForGroupVersion(group + "/v1")
		return err == nil, nil
	})
	return widgets
}

func dynamicClient(t *tester) {
	client := must[*dynamic.DynamicClient](t)(dynamic.NewForConfig(t.config)).Resource(configMaps).Namespace(t.namespace)
	object := parsed(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}")
	made := must[*unstructured.Unstructured](t)(client.Create(t, object, metav1.CreateOptions{}))
	t.say("created %s %s: %v", made.GetAPIVersion(), made.GetKind(), made.Object["data"])
	object.Object["colour"] = "red"
	object.SetName("strict")
	_, err := client.Create(t, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	t.fails("an unknown field", err)
	must[*unstructured.Unstructured](t)(client.Create(t, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore}))
	object.SetKind("ServiceAccount")
	_, err = client.Create(t, object, metav1.CreateOptions{})
	t.fails("another kind", err)
	object = parsed(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: wrong}, data: {k: [1]}}")
	_, err = client.Create(t, object, metav1.CreateOptions{})
	t.fails("a wrong type", err)
	list := must[*unstructured.UnstructuredList](t)(client.List(t, metav1.ListOptions{}))
	t.say("list %s: %d", list.GetKind(), len(list.Items))
	t.must(client.Delete(t, "a", metav1.DeleteOptions{}))
	_, err = client.Get(t, "a", metav1.GetOptions{})
	t.fails("get", err)
	nothing := must[*dynamic.DynamicClient](t)(dynamic.NewForConfig(t.config)).Resource(schema.GroupVersionResource{Group: "none.example.com", Version: "v1", Resource: "things"})
	_, err = nothing.List(t, metav1.ListOptions{})
	t.fails("a kind that is not served", err)
}

func customResources(t *tester) {
	resource := defineWidgets(t)
	client := must[*dynamic.DynamicClient](t)(dynamic.NewForConfig(t.config))
	widgets := client.Resource(resource).Namespace(t.namespace)
	widget := func(text string) *unstructured.Unstructured {
		return parsed(t, "{apiVersion: "+resource.Group+"/v1, kind: Widget, "+text+"}")
	}
	made := must[*unstructured.Unstructured](t)(widgets.Create(t, widget("metadata: {name: a}, spec: {size: 1}, status: {size: 7}"), metav1.CreateOptions{}))
	t.say("created: %v, status %v, generation %d", made.Object["spec"], made.Object["status"], made.GetGeneration())
	for _, text := range []string{"spec: {size: 10}", "spec: {size: many}", "spec: {}", "spec: {size: 1, more: 2}"} {
		_, err := widgets.Create(t, widget("metadata: {name: bad}, "+text), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		t.fails(text, err)
	}
	t.must(unstructured.SetNestedField(made.Object, "Ready", "status", "phase"))
	t.must(unstructured.SetNestedField(made.Object, int64(5), "spec", "size"))
	made = must[*unstructured.Unstructured](t)(widgets.UpdateStatus(t, made, metav1.UpdateOptions{}))
	t.say("status: %v, spec %v, generation %d", made.Object["status"], made.Object["spec"], made.GetGeneration())
	made = must[*unstructured.Unstructured](t)(widgets.Patch(t, "a", types.MergePatchType, []byte(`{"spec":{"size":3},"status":{"phase":"Lost"}}`), metav1.PatchOptions{}))
	t.say("patched: %v, status %v, generation %d", made.Object["spec"], made.Object["status"], made.GetGeneration())
	_, err := widgets.Patch(t, "a", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	t.fails("a strategic patch", err)
	applied := must[*unstructured.Unstructured](t)(widgets.Apply(t, "b", widget("metadata: {name: b}, spec: {size: 2}"), metav1.ApplyOptions{FieldManager: "one"}))
	t.say("applied: %v", applied.Object["spec"])
	_, err = widgets.Apply(t, "b", widget("metadata: {name: b}, spec: {size: 4}"), metav1.ApplyOptions{FieldManager: "two"})
	t.fails("applied by another", err)
	applied = must[*unstructured.Unstructured](t)(widgets.ApplyStatus(t, "b", widget("metadata: {name: b}, status: {phase: Set}"), metav1.ApplyOptions{FieldManager: "two"}))
	t.say("applied status: %v", applied.Object["status"])
	for _, field := range applied.GetManagedFields() {
		t.say("%s %s %q: %s", field.Manager, field.Operation, field.Subresource, field.FieldsV1)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(t.clients.Discovery()))
	scales := must[scale.ScalesGetter](t)(scale.NewForConfig(t.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(t.clients.Discovery())))
	found, err := scales.Scales(t.namespace).Get(t, resource.GroupResource(), "a", metav1.GetOptions{})
	t.must(err)
	t.say("scale: %d wanted, %d there", found.Spec.Replicas, found.Status.Replicas)
	found.Spec.Replicas = 6
	found, err = scales.Scales(t.namespace).Update(t, resource.GroupResource(), found, metav1.UpdateOptions{})
	t.must(err)
	t.say("scaled: %d", found.Spec.Replicas)
	found.Spec.Replicas = 60
	_, err = scales.Scales(t.namespace).Update(t, resource.GroupResource(), found, metav1.UpdateOptions{})
	t.fails("scaled too far", err)
	watch, err := widgets.Watch(t, metav1.ListOptions{})
	t.must(err)
	t.must(client.Resource(definitions).Delete(t, "widgets."+resource.Group, metav1.DeleteOptions{}))
	deleted := 0
	for event := range watch.ResultChan() {
		if event.Type == "DELETED" {
			deleted++
		}
	}
	t.say("the definition is deleted: %d deletions, then the watch ended", deleted)
	t.eventually("widgets are not served", func() (bool, error) {
		_, err := widgets.List(t, metav1.ListOptions{})
		return err != nil && strings.HasPrefix(reason(err), "NotFound"), nil
	})
}

func discovered(t *tester) {
	resource := defineWidgets(t)
	client := t.clients.Discovery()
	served := must[*version.Info](t)(client.ServerVersion())
	t.say("version %s.%s", served.Major, served.Minor)
	for _, group := range []string{"v1", "apps/v1", "coordination.k8s.io/v1", "apiextensions.k8s.io/v1", resource.GroupVersion().String()} {
		list := must[*metav1.APIResourceList](t)(client.ServerResourcesForGroupVersion(group))
		for _, one := range list.APIResources {
			sort.Strings(one.Verbs)
			t.say("%s %s: %s %q namespaced %t %v %v %v %s/%s", group, one.Name, one.Kind, one.SingularName, one.Namespaced, one.ShortNames, one.Categories,
				one.Verbs, one.Group, one.Version)
		}
	}
	_, err := client.ServerResourcesForGroupVersion("none.example.com/v1")
	t.fails("resources of a group that is not served", err)
	preferred, err := discovery.ServerPreferredResources(client)
	t.must(err)
	found := map[string]bool{}
	for _, list := range preferred {
		for _, one := range list.APIResources {
			found[list.GroupVersion+" "+one.Name] = true
		}
	}
	t.say("preferred has deployments %t, widgets %t, leases %t", found["apps/v1 deployments"], found[resource.GroupVersion().String()+" widgets"],
		found["coordination.k8s.io/v1 leases"])

	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client)), client, func(string) {})
	for _, name := range []string{"deploy", "po", "cm", "crd", "wd", "events", "nonsense"} {
		kind, err := mapper.KindFor(schema.GroupVersionResource{Resource: name})
		t.say("%s is %s: %v", name, kind, err)
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: resource.Group, Kind: "Widget"})
	t.must(err)
	t.say("Widget: %s %s", mapping.Resource, mapping.Scope.Name())
	_, err = mapper.RESTMapping(schema.GroupKind{Group: resource.Group, Kind: "Gadget"})
	t.say("Gadget: no match %t", meta.IsNoMatchError(err))
	var document map[string]any
	t.eventually("the schema of widgets", func() (found bool, err error) {
		document, err = openapi(client, "apis/"+resource.GroupVersion().String())
		return err == nil, nil
	})
	var schemas []string
	for name := range document["components"].(map[string]any)["schemas"].(map[string]any) {
		schemas = append(schemas, name)
	}
	sort.Strings(schemas)
	t.must(dynamic.NewForConfigOrDie(t.config).Resource(definitions).Delete(t, "widgets."+resource.Group, metav1.DeleteOptions{}))
	t.say("schemas of the group: %s", strings.Join(schemas, " "))
}

func openapi(client discovery.DiscoveryInterface, path string) (map[string]any, error) {
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		return nil, err
	}
	group, known := paths[path]
	if !known {
		return nil, fmt.Errorf("no schema of %s", path)
	}
	text, err := group.Schema("application/json")
	if err != nil {
		return nil, err
	}
	var document map[string]any
	return document, yaml.Unmarshal(text, &document)
}

func metadataOnly(t *tester) {
	must[*corev1.ConfigMap](t)(t.clients.CoreV1().ConfigMaps(t.namespace).Create(t, configMap("a", map[string]string{"k": "v"}), metav1.CreateOptions{}))
	client := must[metadata.Interface](t)(metadata.NewForConfig(t.config)).Resource(configMaps).Namespace(t.namespace)
	list, err := client.List(t, metav1.ListOptions{})
	t.must(err)
	t.say("list: %d, %s", len(list.Items), list.Items[0].Name)
	one, err := client.Get(t, "a", metav1.GetOptions{})
	t.must(err)
	t.say("%s %s: version %t", one.APIVersion, one.Kind, one.ResourceVersion != "")
	one, err = client.Patch(t, "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	t.must(err)
	t.say("labels %v", one.Labels)
	watch, err := client.Watch(t, metav1.ListOptions{ResourceVersion: one.ResourceVersion})
	t.must(err)
	t.must(client.Delete(t, "a", metav1.DeleteOptions{}))
	event := next(t, "the deletion", watch.ResultChan())
	t.say("watch: %s %s %T", event.Type, event.Object.(*metav1.PartialObjectMetadata).Name, event.Object)
	_, err = client.Get(t, "a", metav1.GetOptions{})
	t.fails("get", err)
}

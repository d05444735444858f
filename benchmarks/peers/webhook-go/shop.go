// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "bench.evenkeel.dev", Version: "v1"}

type ShopPort struct {
	Name     string  `json:"name"`
	Port     int64   `json:"port"`
	Protocol *string `json:"protocol,omitempty"`
}

type ShopSpec struct {
	Image       string            `json:"image"`
	PullPolicy  *string           `json:"pullPolicy,omitempty"`
	Replicas    *int64            `json:"replicas,omitempty"`
	Ports       []ShopPort        `json:"ports,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
}

type ShopStatus struct {
	Phase *string `json:"phase,omitempty"`
}

type Shop struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ShopSpec   `json:"spec,omitempty"`
	Status            ShopStatus `json:"status,omitzero"`
}

func clone[T any](in *T) *T {
	if in == nil {
		return nil
	}
	out := *in
	return &out
}

// As controller-gen generates it.
func (in *Shop) DeepCopy() *Shop {
	out := new(Shop)
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.PullPolicy = clone(in.Spec.PullPolicy)
	out.Spec.Replicas = clone(in.Spec.Replicas)
	out.Spec.Environment = maps.Clone(in.Spec.Environment)
	if in.Spec.Ports != nil {
		out.Spec.Ports = make([]ShopPort, len(in.Spec.Ports))
		for i := range in.Spec.Ports {
			out.Spec.Ports[i] = in.Spec.Ports[i]
			out.Spec.Ports[i].Protocol = clone(in.Spec.Ports[i].Protocol)
		}
	}
	out.Status.Phase = clone(in.Status.Phase)
	return out
}

func (in *Shop) DeepCopyObject() runtime.Object { return in.DeepCopy() }

func addShops(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(groupVersion, &Shop{})
	metav1.AddToGroupVersion(scheme, groupVersion)
}

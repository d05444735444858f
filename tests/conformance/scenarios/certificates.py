# SPDX-License-Identifier: Apache-2.0
"""CertificateSigningRequests: who may approve, deny and sign them, and what they must be."""
from scenario import scenario

GROUP, CSRS = 'certificates.k8s.io', '/apis/certificates.k8s.io/v1/certificatesigningrequests'
ALICE = {'Impersonate-User': 'alice', 'Impersonate-Group': 'team', 'Impersonate-Extra-scopes': 'view'}
ADMIN = {'Impersonate-User': 'ann', 'Impersonate-Group': 'system:masters', 'Impersonate-Uid': '7'}
SIGNER = 'example.com/{ns}'
# openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /O=team/CN=ann, and /O=system:masters/CN=eve;
# openssl req -x509 ... -subj /CN=ann -days 36500.
ANN = 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWE1IOENBUUF3SFRFTk1Bc0dBMVVFQ2d3RWRHVmhiVEVNTUFvR0ExVUVBd3dEWVc1dU1Ga3dFd1lIS29aSQp6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVoeHY1T2FIc1FHQzZ1cVVtTnBjUGVvYitOZGlpM1F1ZmdFNzQ2TGVzCjdLVlhNcDZvT3Mycnc2UjlwYkRoRmkyZitXYzJndEM5aDMzaG5SejF5ckFSZ3FBQU1Bb0dDQ3FHU000OUJBTUMKQTBnQU1FVUNJUUQwUkxlcElqZnNvSDhjL2tpcmtEUmtOR3dpZWpoaFJIc1ZyNHU0dDlvMC93SWdHckNIYWVCUQpoS2ZJQkdacTJNVW5GRjkvNC9jeTJsU3BPc3Rld0wxT2FZMD0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='
MASTERS = 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIaU1JR0pBZ0VBTUNjeEZ6QVZCZ05WQkFvTURuTjVjM1JsYlRwdFlYTjBaWEp6TVF3d0NnWURWUVFEREFObApkbVV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQkJ3TkNBQVFVNVFDYmhXYngwem9Cb0tpeGxEMFNHYUZtCjN4eWR1WnR6c0o4R2ZXN29XNXFBeU0xT1ZjcjlMWkN5RFlqTFVLNGlDaTNGWmRrWFd4RWE3U0plWnhQb29BQXcKQ2dZSUtvWkl6ajBFQXdJRFNBQXdSUUlnWDltSXNjekNpYjR4bkVqRlVjZlQxTlp1SEZJSDQzYzJSMFRmMThlWQpoNzhDSVFELzNza2daWXFuMklPOXIzZUJTKzlWZzBySXBvVG1rNEx4aEkvVDFQT1hMdz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo='
CERTIFICATE = 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJjekNDQVJtZ0F3SUJBZ0lVUDhXVGd0SlNaNzVLTzM0U3luVE1CcmxMOGVFd0NnWUlLb1pJemowRUF3SXcKRGpFTU1Bb0dBMVVFQXd3RFlXNXVNQ0FYRFRJMk1URXlOVEE1TXpjMU9Gb1lEekl4TWpZeE1UQXhNRGt6TnpVNApXakFPTVF3d0NnWURWUVFEREFOaGJtNHdXVEFUQmdjcWhrak9QUUlCQmdncWhrak9QUU1CQndOQ0FBUTBxVThsClJoK3Z4Wnh1d2VTbHc0ZHpxL0g4MFFSc2YxQ0Y3V2xaeGVXMSsxdGErNE92WVlMTVdla1BkdEdHSXd3OTNHTWYKRk5zWmk1aVp0MWs3UDhwMW8xTXdVVEFkQmdOVkhRNEVGZ1FVY1F4elFvSEJoU3BsbDVhK1hzdEU1NFRmbGRBdwpId1lEVlIwakJCZ3dGb0FVY1F4elFvSEJoU3BsbDVhK1hzdEU1NFRmbGRBd0R3WURWUjBUQVFIL0JBVXdBd0VCCi96QUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpRUFqRjNrYktoUUxtT0Q5b3FRSEFSbkV2YjdrRVp5VE1zY0U5YU0KbXNBMFM5Y0NJQmNNZGtDRTc3R2lCN0NDdlRoMUFwaGRodWFicCtYelhjZ054VHlIc21mYgotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg=='


def request(name, **spec):
    return {'metadata': {'name': name}, 'spec': dict({'request': ANN, 'signerName': SIGNER, 'usages': ['client auth']}, **spec)}


def condition(type, **more):
    return dict({'type': type, 'status': 'True', 'reason': 'Test', 'message': 'm'}, **more)


def csr(s, name, **spec):
    s.post(CSRS, request(name + '-{ns}', **spec), headers=ADMIN, hidden=True)
    return CSRS + '/' + name + '-{ns}'


def grant(s, name, *rules):
    s.post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {'metadata': {'name': name + '-{ns}'}, 'rules': list(rules)}, hidden=True)
    s.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
           {'metadata': {'name': name + '-{ns}'}, 'roleRef': {'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'ClusterRole', 'name': name + '-{ns}'},
            'subjects': [{'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'User', 'name': 'alice'}]}, hidden=True)


@scenario
def created(s):
    """A request names the user that sent it, and no other; nobody sends one that is approved."""
    grant(s, 'requester', {'apiGroups': [GROUP], 'resources': ['certificatesigningrequests'], 'verbs': ['*']})
    s.post(CSRS, dict(request('a-{ns}', username='eve', uid='7', groups=['x'], extra={'a': ['b']}, expirationSeconds=3600),
                      status={'conditions': [condition('Approved')], 'certificate': CERTIFICATE}), headers=ALICE, until=201)
    s.get(CSRS + '/a-{ns}')
    s.patch(CSRS + '/a-{ns}', {'metadata': {'labels': {'a': 'b'}}, 'spec': {'usages': ['server auth']}, 'status': {'conditions': [condition('Denied')]}})
    s.get(CSRS + '?fieldSelector=spec.signerName%3Dexample.com/{ns}', headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'}, undescribed=True)
    s.delete(CSRS + '/a-{ns}')


@scenario
def refused(s):
    """A request must have a signature, a signer, and usages."""
    for spec in ({'usages': []}, {'usages': ['client auth', 'client auth', 'nothing']}, {'request': 'bm8gUEVN'}, {'request': CERTIFICATE},
                 {'signerName': 'kubernetes.io/legacy-unknown'}, {'signerName': 'example'}, {'signerName': 'one/two'},
                 {'signerName': 'Example.com/a_b'}, {'signerName': ''}, {'expirationSeconds': 599}):
        s.post(CSRS, request('r-{ns}', **spec))
    s.post(CSRS, request('r-{ns}', signerName='kubernetes.io/kube-apiserver-client', request=MASTERS))


@scenario
def approval(s):
    """An approval cannot be taken back, nor be both."""
    path = csr(s, 'a')
    s.patch(path + '/approval', {'spec': {'usages': ['server auth']}, 'status': {'certificate': CERTIFICATE, 'conditions': [condition('Approved')]}})
    s.patch(path + '/approval', {'status': {'conditions': [condition('Denied')]}})
    s.patch(path + '/approval', {'status': {'conditions': [condition('Approved'), condition('Denied')]}})
    s.patch(path + '/approval', {'status': {'conditions': None}})
    s.patch(path + '/approval', {'status': {'conditions': [condition('Approved', message='again')]}})
    s.get(path + '/approval')
    other = csr(s, 'b')
    s.patch(other + '/approval', {'status': {'conditions': [condition('Approved', status='False')]}})
    s.patch(other + '/approval', {'status': {'conditions': [condition('Mine', status='Maybe'), condition('')]}})
    s.patch(other + '/approval', {'status': {'conditions': [condition('Denied', lastUpdateTime='2020-01-01T00:00:00Z')]}})
    s.post(other + '/approval', {})


@scenario
def signing(s):
    """The certificate is set once; the status cannot approve."""
    path = csr(s, 'a')
    s.patch(path + '/status', {'status': {'conditions': [condition('Approved')]}})
    s.patch(path + '/approval', {'status': {'conditions': [condition('Approved')]}})
    s.patch(path + '/status', {'status': {'certificate': 'bm8gUEVN'}})
    s.patch(path + '/status', {'status': {'certificate': ANN}})
    s.patch(path + '/status', {'spec': {'usages': ['server auth']}, 'status': {'certificate': CERTIFICATE}})
    s.patch(path + '/status', {'status': {'certificate': None}})
    s.patch(path + '/status', {'status': {'conditions': [condition('Approved', message='other')]}})
    s.patch(path + '/status', {'status': {'conditions': [condition('Approved'), condition('Failed')]}})
    s.get(path, headers={'Accept': 'application/json;as=Table;v=v1;g=meta.k8s.io'}, undescribed=True)


@scenario
def rights(s):
    """To approve or to sign, one needs a right on the signer as well."""
    grant(s, 'writer', {'apiGroups': [GROUP], 'resources': ['certificatesigningrequests/approval', 'certificatesigningrequests/status'], 'verbs': ['patch']})
    path = csr(s, 'a')
    approve, sign = {'status': {'conditions': [condition('Approved')]}}, {'status': {'certificate': CERTIFICATE}}
    s.patch(path + '/approval', {'status': {'conditions': [condition('Approved', status='False')]}}, headers=ALICE, until=422)
    s.patch(path + '/approval', approve, headers=ALICE)
    grant(s, 'approver', {'apiGroups': [GROUP], 'resources': ['signers'], 'resourceNames': [SIGNER], 'verbs': ['approve']})
    s.patch(path + '/approval', approve, headers=ALICE, until=200)
    s.patch(path + '/status', sign, headers=ALICE)
    s.patch(path + '/status', {'metadata': {'labels': {'a': 'b'}}}, headers=ALICE)
    grant(s, 'signer', {'apiGroups': [GROUP], 'resources': ['signers'], 'resourceNames': ['example.com/*'], 'verbs': ['sign']})
    s.patch(path + '/status', sign, headers=ALICE, until=200)


@scenario
def owned(s):
    """Neither the request nor its answers have owners, except those of an approval."""
    s.post(CSRS, dict(request('a-{ns}'), metadata={'name': 'a-{ns}', 'labels': {'a': 'b'}}), headers=ADMIN)
    path = CSRS + '/a-{ns}'
    s.patch(path + '/approval', {'status': {'conditions': [condition('Approved')]}})
    s.patch(path + '/status', {'status': {'certificate': CERTIFICATE, 'conditions': [condition('Approved'), condition('Failed')]}})
    s.patch(path, {'metadata': {'labels': {'c': 'd'}}})
    s.patch(path + '?fieldManager=m&force=true', {'apiVersion': 'certificates.k8s.io/v1', 'kind': 'CertificateSigningRequest',
            'metadata': {'name': 'a-{ns}', 'labels': {'a': 'b'}}, 'spec': request('')['spec']}, type='apply')

# SPDX-License-Identifier: Apache-2.0
"""An HTTPS server of webhooks that answer as a scenario says, and remember what they were asked.

A webhook has the URL BASE/NAMESPACE/NAME. Objects with names like `probe-NAME` are not remembered, and denied by the webhook
NAME: scenarios wait with them until the API server knows a configuration.
"""
import base64
import contextlib
import functools
import http.server
import json
import os
import ssl
import subprocess
import tempfile
import threading
import time

CERTIFY = ('openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=webhooks '
           '-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out certificate.pem')


class Hooks:
    """The webhooks of all scenarios. Thread safety: all members may be called concurrently."""

    def __init__(self):
        self.lock = threading.Lock()
        self.answers, self.asked = {}, {}
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Handler, self))
        self.server.daemon_threads = True
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(CERTIFY.split(), cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(os.path.join(folder, 'certificate.pem'), os.path.join(folder, 'key.pem'))
            with open(os.path.join(folder, 'certificate.pem'), 'rb') as file:
                self.bundle = base64.b64encode(file.read()).decode()
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.base = 'https://127.0.0.1:%d' % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def set(self, namespace, name, response):
        with self.lock:
            self.answers['/%s/%s' % (namespace, name)] = response
            self.asked['/%s/%s' % (namespace, name)] = []

    def reviews(self, namespace, name):
        """Returns the requests since the last call, without what depends on the way in which the user was identified."""
        with self.lock:
            asked, self.asked['/%s/%s' % (namespace, name)] = self.asked['/%s/%s' % (namespace, name)], []
        for request in asked:
            for member in ('uid', 'extra'):
                request['userInfo'].pop(member, None)
        return asked

    def answer(self, path, review):
        """Returns the body of the answer, and the HTTP status."""
        request = review['request']
        name = named(request, 'object') or ''
        if name.startswith('probe-'):
            response = {'allowed': path.rpartition('/')[2] != name[len('probe-'):], 'status': {'message': 'ready'}}
        else:
            with self.lock:
                response = self.answers[path]
                self.asked[path].append(request)
        time.sleep(response.get('delay', 0))
        if 'raw' in response:
            return response['raw'].replace('UID', request['uid']), response.get('code', 200)
        response = {key: value for key, value in dict(response, uid=request['uid']).items() if key != 'delay'}
        if isinstance(response.get('patch'), list):
            response['patchType'] = 'JSONPatch'
            response['patch'] = base64.b64encode(json.dumps(response['patch']).encode()).decode()
        return json.dumps({'apiVersion': review['apiVersion'], 'kind': 'AdmissionReview', 'response': response}), 200


def named(request, member):
    return ((request.get(member) or {}).get('metadata') or {}).get('name')


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def __init__(self, hooks, *arguments):
        self.hooks = hooks
        super().__init__(*arguments)

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        body, status = self.hooks.answer(self.path.partition('?')[0], review)
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def handle(self):
        with contextlib.suppress(OSError):  # a client that does not trust the certificate
            super().handle()

    def log_message(self, *_):
        pass


@functools.lru_cache(maxsize=None)
def _made():
    return Hooks()


_making = threading.Lock()


def hooks():
    """Returns the server, started at the first call."""
    with _making:
        return _made()

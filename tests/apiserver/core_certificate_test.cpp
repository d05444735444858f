// SPDX-License-Identifier: Apache-2.0
// CertificateSigningRequests in the core; tests/conformance compares the answers with a real server's.
#include <string>
#include <utility>

#include <evenkeel/api/bytes.hpp>

#include "core_fixture.hpp"

namespace evenkeel::apiserver::tests::certificates {
namespace {

const std::string csrs = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
constexpr char merge_type[] = "application/merge-patch+json";

// openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /O=team/CN=ann
const std::string ann =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIWE1IOENBUUF3SFRFTk1Bc0dBMVVFQ2d3RWRH"
    "VmhiVEVNTUFvR0ExVUVBd3dEWVc1dU1Ga3dFd1lIS29aSQp6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVoeHY1T2FI"
    "c1FHQzZ1cVVtTnBjUGVvYitOZGlpM1F1ZmdFNzQ2TGVzCjdLVlhNcDZvT3Mycnc2UjlwYkRoRmkyZitXYzJndEM5"
    "aDMzaG5SejF5ckFSZ3FBQU1Bb0dDQ3FHU000OUJBTUMKQTBnQU1FVUNJUUQwUkxlcElqZnNvSDhjL2tpcmtEUmtO"
    "R3dpZWpoaFJIc1ZyNHU0dDlvMC93SWdHckNIYWVCUQpoS2ZJQkdacTJNVW5GRjkvNC9jeTJsU3BPc3Rld0wxT2FZ"
    "MD0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";
// ... -subj /O=system:masters/CN=eve
const std::string masters =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIaU1JR0pBZ0VBTUNjeEZ6QVZCZ05WQkFvTURu"
    "TjVjM1JsYlRwdFlYTjBaWEp6TVF3d0NnWURWUVFEREFObApkbVV3V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFN"
    "QkJ3TkNBQVFVNVFDYmhXYngwem9Cb0tpeGxEMFNHYUZtCjN4eWR1WnR6c0o4R2ZXN29XNXFBeU0xT1ZjcjlMWkN5"
    "RFlqTFVLNGlDaTNGWmRrWFd4RWE3U0plWnhQb29BQXcKQ2dZSUtvWkl6ajBFQXdJRFNBQXdSUUlnWDltSXNjekNp"
    "YjR4bkVqRlVjZlQxTlp1SEZJSDQzYzJSMFRmMThlWQpoNzhDSVFELzNza2daWXFuMklPOXIzZUJTKzlWZzBySXBv"
    "VG1rNEx4aEkvVDFQT1hMdz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";
// openssl req -x509 ... -subj /CN=ann
const std::string certificate =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJjekNDQVJtZ0F3SUJBZ0lVUDhXVGd0SlNaNzVLTzM0U3lu"
    "VE1CcmxMOGVFd0NnWUlLb1pJemowRUF3SXcKRGpFTU1Bb0dBMVVFQXd3RFlXNXVNQ0FYRFRJMk1URXlOVEE1TXpj"
    "MU9Gb1lEekl4TWpZeE1UQXhNRGt6TnpVNApXakFPTVF3d0NnWURWUVFEREFOaGJtNHdXVEFUQmdjcWhrak9QUUlC"
    "QmdncWhrak9QUU1CQndOQ0FBUTBxVThsClJoK3Z4Wnh1d2VTbHc0ZHpxL0g4MFFSc2YxQ0Y3V2xaeGVXMSsxdGEr"
    "NE92WVlMTVdla1BkdEdHSXd3OTNHTWYKRk5zWmk1aVp0MWs3UDhwMW8xTXdVVEFkQmdOVkhRNEVGZ1FVY1F4elFv"
    "SEJoU3BsbDVhK1hzdEU1NFRmbGRBdwpId1lEVlIwakJCZ3dGb0FVY1F4elFvSEJoU3BsbDVhK1hzdEU1NFRmbGRB"
    "d0R3WURWUjBUQVFIL0JBVXdBd0VCCi96QUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpRUFqRjNrYktoUUxtT0Q5b3FR"
    "SEFSbkV2YjdrRVp5VE1zY0U5YU0KbXNBMFM5Y0NJQmNNZGtDRTc3R2lCN0NDdlRoMUFwaGRodWFicCtYelhjZ054"
    "VHlIc21mYgotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==";

std::string request(const std::string& pem, const std::string& signer = "example.com/users") {
  return R"({"metadata":{"name":"a"},"spec":{"usages":["client auth"],"username":"eve","signerName":")" +
         signer + R"(","request":")" + pem + R"("}})";
}
std::string with_condition(const std::string& type, const std::string& status = "True") {
  return R"({"status":{"conditions":[{"type":")" + type + R"(","status":")" + status + R"("}]}})";
}
std::string with_certificate(const std::string& pem) {
  return R"({"status":{"certificate":")" + pem + R"("}})";
}

class CertificateRequestTest : public CoreFixture {
 protected:
  CertificateRequestTest() : CoreFixture({.authorization = Authorization::rbac}) {}

  CoreReply create(const std::string& body) { return send(http::Method::post, csrs, body); }
  CoreReply approve(const std::string& body) {
    return send(http::Method::patch, csrs + "/a/approval", body, merge_type);
  }
  CoreReply sign(const std::string& body) {
    return send(http::Method::patch, csrs + "/a/status", body, merge_type);
  }
  /// Lets ann do `verb` with requests to the signer, and write both subresources.
  void give(const std::string& verb, const std::string& signer) {
    const Caller before = std::exchange(caller, Caller{});
    const std::string rbac = "/apis/rbac.authorization.k8s.io/v1";
    const CoreReply role = send(
        http::Method::post, rbac + "/clusterroles",
        R"({"metadata":{"name":")" + verb +
            R"("},"rules":[{"apiGroups":["certificates.k8s.io"],"resources":)" +
            R"(["certificatesigningrequests/approval","certificatesigningrequests/status"],"verbs":["patch"]},)" +
            R"({"apiGroups":["certificates.k8s.io"],"resources":["signers"],"resourceNames":[")" + signer +
            R"("],"verbs":[")" + verb + R"("]}]})");
    ASSERT_EQ(role.status, 201) << role.text;
    const CoreReply binding = send(
        http::Method::post, rbac + "/clusterrolebindings",
        R"({"metadata":{"name":")" + verb +
            R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":)" + R"("ClusterRole","name":")" +
            verb + R"("},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"ann"}]})");
    ASSERT_EQ(binding.status, 201) << binding.text;
    caller = before;
  }
};

TEST_F(CertificateRequestTest, NamesItsSender) {
  caller.uid = "7";
  const CoreReply made = create(request(ann));
  ASSERT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body.at({"spec", "username"}), Json(caller.user));
  EXPECT_EQ(made.body.at({"spec", "uid"}), Json("7"));
  EXPECT_TRUE(made.body.at({"status", "conditions"}).is_null());
}

TEST_F(CertificateRequestTest, MustBeSignedByItsKey) {
  const CoreReply reply = create(request(certificate));
  EXPECT_EQ(reply.status, 422);
  EXPECT_EQ(reply.body.at({"details", "causes"})[0]["field"], Json("spec.request"));
  EXPECT_NE(reply.message().find("PEM block type must be CERTIFICATE REQUEST"), std::string::npos);
  std::string spoiled = Bytes::from_base64(ann).value().value();
  const std::size_t near_end = spoiled.find("-----END") - 12;
  spoiled[near_end] = spoiled[near_end] == 'A' ? 'B' : 'A';
  EXPECT_EQ(create(request(Bytes(spoiled).base64())).status, 422);
}

TEST_F(CertificateRequestTest, MustNotAskForAllRightsOnTheServer) {
  const CoreReply reply = create(request(masters, "kubernetes.io/kube-apiserver-client"));
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(reply.message(),
            R"(certificatesigningrequests.certificates.k8s.io "a" is forbidden: use of )"
            R"(kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed)");
  EXPECT_EQ(create(request(masters)).status, 201) << "another signer decides for itself";
}

TEST_F(CertificateRequestTest, IsApprovedOnce) {
  ASSERT_EQ(create(request(ann)).status, 201);
  EXPECT_EQ(approve(with_condition("Approved", "False")).status, 422);
  const CoreReply approved = approve(with_condition("Approved"));
  ASSERT_EQ(approved.status, 200) << approved.text;
  const Json& condition = approved.body.at({"status", "conditions"})[0];
  EXPECT_TRUE(condition["lastUpdateTime"].is_string());
  EXPECT_TRUE(condition["lastTransitionTime"].is_string());
  const CoreReply back = approve(R"({"status":{"conditions":null}})");
  EXPECT_EQ(back.status, 422);
  EXPECT_NE(back.message().find(
                R"(status.conditions: Forbidden: updates may not remove a condition of type "Approved")"),
            std::string::npos)
      << back.message();
}

TEST_F(CertificateRequestTest, GetsItsCertificateOnce) {
  ASSERT_EQ(create(request(ann)).status, 201);
  EXPECT_EQ(sign(with_condition("Approved")).status, 422) << "approved by an approval only";
  EXPECT_EQ(sign(with_certificate(ann)).status, 422) << "no certificate";
  ASSERT_EQ(sign(with_certificate(certificate)).status, 200);
  EXPECT_EQ(approve(with_certificate("")).body.at({"status", "certificate"}), Json(certificate));
  const CoreReply again = sign(R"({"status":{"certificate":null}})");
  EXPECT_NE(again.message().find("updates may not modify existing certificate content"), std::string::npos)
      << again.message();
}

TEST_F(CertificateRequestTest, NeedsRightsOnItsSigner) {
  ASSERT_EQ(create(request(ann)).status, 201);
  caller = {.user = "ann", .groups = {"system:authenticated"}};
  give("approve", "example.com/others");
  EXPECT_EQ(
      approve(with_condition("Approved")).message(),
      R"(certificatesigningrequests.certificates.k8s.io "a" is forbidden: user not permitted to approve )"
      R"(requests with signerName "example.com/users")");
  give("sign", "example.com/*");
  EXPECT_EQ(sign(with_certificate(certificate)).status, 200) << "the signers of a domain";
  EXPECT_EQ(approve(with_condition("Approved")).status, 403);
}

}  // namespace
}  // namespace evenkeel::apiserver::tests::certificates

// SPDX-License-Identifier: Apache-2.0
#include "http/tls_files.hpp"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "certificates.hpp"

namespace evenkeel::http::detail {
namespace {

using tests::Authority;
using tests::Pem;

/// Files of a client, which are read again for each request.
class TlsFilesTest : public ::testing::Test {
 protected:
  TlsFilesTest() {
    write(ca_, authority.pem());
    write(cert_, old.cert);
    write(key_, old.key);
    files.on_rotation([this] { ++rotations; });
  }
  ~TlsFilesTest() override {
    for (const std::string& path : {ca_, cert_, key_}) std::remove(path.c_str());
  }

  static std::string path_of(const char* name) {
    return ::testing::TempDir() + "evenkeel-tls-files-" + std::to_string(getpid()) + name;
  }
  static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

  const Authority authority{"ca"};
  const Pem old = authority.issue_client("jane");
  const Pem fresh = authority.issue_client("jane");
  const std::string ca_ = path_of(".ca"), cert_ = path_of(".cert"), key_ = path_of(".key");
  int rotations = 0;
  TlsFiles files{{.ca_file = ca_, .cert_file = cert_, .key_file = key_}, Duration::zero()};
};

TEST_F(TlsFilesTest, APairThatIsReplacedFileByFileIsTakenWhenItsKeyIsThere) {
  const auto before = files.get();
  write(cert_, fresh.cert);
  EXPECT_EQ(files.get(), before) << "the key is still that of the old certificate";
  write(key_, fresh.key.substr(0, fresh.key.size() / 2));
  EXPECT_EQ(files.get(), before) << "half of the key is written";
  EXPECT_EQ(rotations, 0);
  write(key_, fresh.key);
  EXPECT_EQ(files.get()->cert, fresh.cert);
  EXPECT_EQ(files.get()->key, fresh.key);
  EXPECT_EQ(rotations, 1);
}

TEST_F(TlsFilesTest, AHalfWrittenAuthorityDoesNotDelayTheClientCertificate) {
  const std::string text = authority.pem();
  const auto before = files.get();
  write(ca_, text.substr(0, text.size() / 2));
  EXPECT_EQ(files.get(), before);
  write(cert_, fresh.cert);
  write(key_, fresh.key);
  EXPECT_EQ(files.get()->cert, fresh.cert);
  EXPECT_EQ(files.get()->ca, text);
  const std::string both = text + Authority("other").pem();
  write(ca_, both);
  EXPECT_EQ(files.get()->ca, both);
}

// Regression: the certificate counted as missing while a file could not be read: an event loop read the files
// again and again, and requests without one read them each time.
TEST_F(TlsFilesTest, AnotherCertificateWaitsWhileAFileCannotBeRead) {
  const auto given = std::make_shared<ClientCertificate>();
  TlsFiles files{{.ca_file = ca_, .client_certificate = given}, std::chrono::hours{1}};
  given->set(std::make_shared<const CertificatePair>(CertificatePair{.cert = old.cert, .key = old.key}));
  const auto before = files.get();
  EXPECT_EQ(before->cert, old.cert);
  std::remove(ca_.c_str());
  given->set(std::make_shared<const CertificatePair>(CertificatePair{.cert = fresh.cert, .key = fresh.key}));
  EXPECT_EQ(files.freshness(), TlsFiles::Freshness::missing);
  EXPECT_EQ(files.get(), before);
  EXPECT_NE(files.freshness(), TlsFiles::Freshness::missing);
  EXPECT_EQ(files.current(), before);
}

TEST_F(TlsFilesTest, AnotherCertificateIsTakenOnceTheFilesCanBeReadAgain) {
  const auto given = std::make_shared<ClientCertificate>();
  TlsFiles files{{.ca_file = ca_, .client_certificate = given}, Duration::zero()};
  given->set(std::make_shared<const CertificatePair>(CertificatePair{.cert = old.cert, .key = old.key}));
  const auto before = files.get();
  std::remove(ca_.c_str());
  given->set(std::make_shared<const CertificatePair>(CertificatePair{.cert = fresh.cert, .key = fresh.key}));
  EXPECT_EQ(files.get(), before);
  write(ca_, authority.pem());
  EXPECT_EQ(files.get()->cert, fresh.cert);
  EXPECT_EQ(files.get()->key, fresh.key);
}

// libcurl reports what is wrong.
TEST_F(TlsFilesTest, APairThatNeverMatchedIsReturned) {
  write(cert_, fresh.cert);
  const auto first = files.get();
  EXPECT_EQ(first->cert, fresh.cert);
  EXPECT_EQ(first->key, old.key);
  write(cert_, old.cert);
  EXPECT_EQ(files.get()->cert, old.cert);
}

}  // namespace
}  // namespace evenkeel::http::detail

//! Serves the three files of `static/` over HTTP/1.1.

use std::{env, io, net::Ipv4Addr, path::Path};

use axum::{Router, serve::ListenerExt};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};
use tower_http::services::ServeDir;

/// Where the files are, relative to the working directory.
const FILES: &str = "static";

#[tokio::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port()?)).await?;
    println!("listening on {}", listener.local_addr()?);
    // Head and body leave as two writes: with Nagle's algorithm the second one waits for
    // the client's delayed acknowledgement of the first, 40 ms, whatever the CPU quota.
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            eprintln!("TCP_NODELAY: {error}");
        }
    });
    // The handler is in place before the first request: as PID 1 of a container
    // the process would otherwise ignore SIGTERM.
    let mut terminate = signal(SignalKind::terminate())?;
    axum::serve(listener, app(FILES))
        .with_graceful_shutdown(async move {
            terminate.recv().await;
        })
        .await
}

/// The port to listen on: `PORT`, or 8080.
fn port() -> io::Result<u16> {
    match env::var("PORT") {
        Ok(text) => text.parse().map_err(|_| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("PORT must be 0-65535, not {text:?}"),
            )
        }),
        Err(_) => Ok(8080),
    }
}

/// Answers `/` with `index.html`, any other path with the file of that name, and 404 elsewhere.
fn app(files: impl AsRef<Path>) -> Router {
    Router::new().fallback_service(ServeDir::new(files))
}

#[cfg(test)]
mod tests {
    use axum::{
        body::Body,
        http::{Request, StatusCode, header},
    };
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    /// Status, content type and body of the answer to `method path`.
    async fn answer(method: &str, path: &str) -> (StatusCode, Option<String>, Vec<u8>) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(Body::empty())
            .unwrap();
        let response = app(FILES).oneshot(request).await.unwrap();
        let status = response.status();
        let content_type = response
            .headers()
            .get(header::CONTENT_TYPE)
            .map(|value| value.to_str().unwrap().to_owned());
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, content_type, body.to_vec())
    }

    #[tokio::test]
    async fn serves_each_file_with_its_type() {
        for (path, file, content_type) in [
            ("/", "index.html", "text/html"),
            ("/index.html", "index.html", "text/html"),
            ("/style.css", "style.css", "text/css"),
            ("/script.js", "script.js", "text/javascript"),
        ] {
            let expected = std::fs::read(Path::new(FILES).join(file)).unwrap();
            let found = answer("GET", path).await;
            assert_eq!(
                found,
                (StatusCode::OK, Some(content_type.to_owned()), expected),
                "{path}"
            );
        }
    }

    #[tokio::test]
    async fn answers_head_without_a_body() {
        let (status, _, body) = answer("HEAD", "/style.css").await;
        assert_eq!((status, body.len()), (StatusCode::OK, 0));
    }

    #[tokio::test]
    async fn refuses_what_it_does_not_have() {
        for (method, path, status) in [
            ("GET", "/missing.txt", StatusCode::NOT_FOUND),
            ("GET", "/../Cargo.toml", StatusCode::NOT_FOUND),
            ("GET", "/%2e%2e/Cargo.toml", StatusCode::NOT_FOUND),
            ("POST", "/", StatusCode::METHOD_NOT_ALLOWED),
        ] {
            assert_eq!(answer(method, path).await.0, status, "{method} {path}");
        }
    }

    #[test]
    fn the_files_are_as_small_as_the_scenario_says() {
        for (file, size) in [("index.html", 490), ("style.css", 160), ("script.js", 30)] {
            let found = std::fs::read(Path::new(FILES).join(file)).unwrap().len();
            assert!(found.abs_diff(size) <= 10, "{file} has {found} bytes");
        }
    }
}

/**
 * A configuration of nginx whose files are below `prefix`; `http` is the rest of its block. One worker, because the other
 * gateways run in one process. Connections are kept open on both sides: the default of a thousand requests for each
 * connection would distort the result.
 */
export function nginxConfig(prefix: string, http: string): string {
  return `
daemon off;
worker_processes 1;
worker_rlimit_nofile 10000;
pid ${prefix}/nginx.pid;
error_log ${prefix}/error.log warn;
events { worker_connections 5000; }
http {
  access_log off;
  # Large prompts stay in memory: otherwise a temporary file for each decides.
  client_body_buffer_size 1m;
  client_body_temp_path ${prefix}/body;
  proxy_temp_path ${prefix}/proxy;
  fastcgi_temp_path ${prefix}/fastcgi;
  uwsgi_temp_path ${prefix}/uwsgi;
  scgi_temp_path ${prefix}/scgi;
  keepalive_requests 1000000000;
  tcp_nodelay on;
${http}
}
`
}

/** In a `location`: connections are kept, and streams are not buffered. */
export const PROXY_SETTINGS = `proxy_http_version 1.1;
      proxy_set_header connection "";
      proxy_buffering off;
      proxy_read_timeout 60s;`

/**
 * Error answers of a fictitious provider, with details that real providers leak: names, machines, organization ids, parts
 * of keys. If any of them reaches a customer, the gateway has failed.
 */
import { createErrorBody } from './create-error-body.ts'

export interface ProviderRefusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const JSON_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  server: 'zephyrion-edge/3.4',
  'x-zephyrion-node': 'gpu-node-17.sa-east.zephyrion.internal',
}

export const PROVIDER_REFUSALS = {
  badRequest: {
    status: 400,
    headers: JSON_HEADERS,
    body: createErrorBody({
      message:
        'Zephyrion AI: the deployment zephyr-70b-prod-eu2 rejected the request (org-zph-48151623)',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'zephyrion_schema_violation',
    }),
  },
  badCredentials: {
    status: 401,
    headers: JSON_HEADERS,
    body: createErrorBody({
      message:
        'Incorrect API key provided: zph-live-****9f3c. ' +
        'Find your key at https://console.zephyrion.example/keys',
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_api_key',
    }),
  },
  rateLimited: {
    status: 429,
    headers: { ...JSON_HEADERS, 'retry-after': '1', 'x-ratelimit-remaining-requests': '0' },
    body: createErrorBody({
      message:
        'Rate limit reached for zephyr-70b in organization org-zph-48151623 on requests per min: ' +
        'Limit 500, Used 500. Visit https://console.zephyrion.example/limits',
      type: 'requests',
      param: null,
      code: 'rate_limit_exceeded',
    }),
  },
  serverError: {
    status: 500,
    headers: JSON_HEADERS,
    body: createErrorBody({
      message:
        'Traceback (most recent call last): File "/srv/zephyrion/router.py", line 214, ' +
        'ConnectionError: shard-3.db.zephyrion.internal:5432',
      type: 'server_error',
      param: null,
      code: 'zephyrion_internal_error',
    }),
  },
  overloaded: {
    status: 503,
    headers: JSON_HEADERS,
    body: createErrorBody({
      message: 'The Zephyrion AI cluster sa-east-1b is overloaded (queue depth 9182)',
      type: 'server_error',
      param: null,
      code: 'engine_overloaded',
    }),
  },
  htmlPage: {
    status: 502,
    headers: { 'content-type': 'text/html', server: 'zephyrion-edge/3.4' },
    body:
      '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n' +
      '<center><h1>502 Bad Gateway</h1></center>\r\n' +
      '<hr><center>zephyrion-edge/3.4 (gpu-node-17.zephyrion.internal)</center>\r\n' +
      '</body>\r\n</html>\r\n',
  },
} satisfies Record<string, ProviderRefusal>

/** The last event of a stream that fails half-way. */
export const ERROR_IN_STREAM = createErrorBody({
  message: 'Zephyrion AI worker gpu-node-17.zephyrion.internal was preempted',
  type: 'server_error',
  param: null,
  code: 'zephyrion_worker_lost',
})

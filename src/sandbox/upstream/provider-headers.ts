/** Headers of a real provider, which a gateway must not forward. */
export const PROVIDER_HEADERS = {
  'openai-organization': 'org-sandbox',
  'openai-processing-ms': '5',
  'openai-version': '2020-10-01',
  'x-request-id': 'req_sandbox_internal',
}

/** A real provider's headers, which a gateway must not pass on. */
export const PROVIDER_HEADERS = {
  'openai-organization': 'org-sandbox',
  'openai-processing-ms': '5',
  'openai-version': '2020-10-01',
  'x-request-id': 'req_sandbox_internal',
}

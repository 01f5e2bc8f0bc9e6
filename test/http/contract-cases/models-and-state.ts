import type { ContractCases } from './contract-case.ts'

const FORM =
  '--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nID3x\r\n--b--\r\n'
const IMAGE_FORM =
  '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nsandbox-image\r\n' +
  '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nAzul\r\n' +
  '--b\r\ncontent-disposition: form-data; name="size"\r\n\r\n256x256\r\n' +
  '--b\r\ncontent-disposition: form-data; name="image"; filename="a.webp"\r\n\r\n' +
  'RIFF0000WEBPVP8 \r\n--b--\r\n'
const QUESTION = { messages: [{ role: 'user', content: 'Olá' }] }

const CASES: ContractCases = {
  'POST /chat/completions': [
    { body: { model: 'sandbox-chat', ...QUESTION } },
    { body: { model: 'sandbox-chat' }, status: 400 },
    { body: { model: 'none', ...QUESTION }, status: 404 },
    { body: { model: 'sandbox-chat', ...QUESTION }, isAnonymous: true, status: 401 },
    { body: { model: 'sandbox-error-500', ...QUESTION }, status: 502 },
    { body: { model: 'sandbox-error-503', ...QUESTION }, status: 503 },
    { body: { model: 'sandbox-error-429', ...QUESTION }, status: 429 },
  ],
  'POST /completions': [
    { body: { model: 'sandbox-chat', prompt: 'Olá' } },
    { body: { model: 'sandbox-chat' }, status: 400 },
    { body: { model: 'none', prompt: 'Olá' }, status: 404 },
    { body: { model: 'sandbox-chat', prompt: 'Olá' }, isAnonymous: true, status: 401 },
    { body: { model: 'sandbox-error-500', prompt: 'Olá' }, status: 502 },
    { body: { model: 'sandbox-error-503', prompt: 'Olá' }, status: 503 },
    { body: { model: 'sandbox-error-429', prompt: 'Olá' }, status: 429 },
  ],
  'POST /messages': [
    { body: { model: 'sandbox-chat', max_tokens: 100, ...QUESTION } },
    { body: { model: 'sandbox-chat', ...QUESTION }, status: 400 },
    { body: { model: 'none', max_tokens: 100, ...QUESTION }, status: 404 },
    {
      body: { model: 'sandbox-chat', max_tokens: 100, ...QUESTION },
      isAnonymous: true,
      status: 401,
    },
    { body: { model: 'sandbox-error-500', max_tokens: 100, ...QUESTION }, status: 502 },
    { body: { model: 'sandbox-error-503', max_tokens: 100, ...QUESTION }, status: 503 },
    { body: { model: 'sandbox-error-429', max_tokens: 100, ...QUESTION }, status: 429 },
  ],
  'POST /messages/count_tokens': [
    { body: { model: 'sandbox-chat', ...QUESTION } },
    { body: { model: 'sandbox-chat' }, status: 400 },
    { body: { model: 'sandbox-chat', ...QUESTION }, isAnonymous: true, status: 401 },
  ],
  'POST /responses': [
    { body: { model: 'sandbox-chat', input: 'Olá' } },
    { body: { model: 'sandbox-reasoning', input: [{ role: 'user', content: 'Olá' }] } },
    { body: { model: 'sandbox-chat' }, status: 400 },
    { body: { model: 'none', input: 'Olá' }, status: 404 },
    { body: { model: 'sandbox-chat', input: 'Olá' }, isAnonymous: true, status: 401 },
    { body: { model: 'sandbox-error-500', input: 'Olá' }, status: 502 },
    { body: { model: 'sandbox-error-503', input: 'Olá' }, status: 503 },
    { body: { model: 'sandbox-error-429', input: 'Olá' }, status: 429 },
  ],
  'POST /responses/compact': [
    { body: { model: 'sandbox-chat', input: 'Olá' } },
    { body: { model: 'sandbox-chat' }, status: 400 },
    { body: { model: 'none', input: 'Olá' }, status: 404 },
    { body: { model: 'sandbox-chat', input: 'Olá' }, isAnonymous: true, status: 401 },
    { body: { model: 'sandbox-error-500', input: 'Olá' }, status: 502 },
    { body: { model: 'sandbox-error-503', input: 'Olá' }, status: 503 },
    { body: { model: 'sandbox-error-429', input: 'Olá' }, status: 429 },
  ],
  'POST /responses/input_tokens': [
    { body: { model: 'sandbox-chat', input: 'Olá' } },
    { body: { model: 'sandbox-chat' }, status: 400 },
    { body: { model: 'sandbox-chat', input: 'Olá' }, isAnonymous: true, status: 401 },
  ],
  'POST /embeddings': [
    { body: { model: 'sandbox-embedding', input: 'Olá' } },
    { body: { model: 'sandbox-embedding' }, status: 400 },
  ],
  'POST /rerank': [
    { body: { model: 'sandbox-rerank', query: 'Olá', documents: ['Olá'] } },
    { body: { model: 'sandbox-rerank', query: 'Olá' }, status: 400 },
  ],
  'POST /moderations': [
    { body: { input: ['Olá', 'Vou matar a sede'] } },
    { body: { model: 'sandbox-moderation' }, status: 400 },
  ],
  'POST /images/generations': [
    { body: { model: 'sandbox-image', prompt: 'Uma catraca', size: '256x256' } },
    { body: { model: 'sandbox-image' }, status: 400 },
  ],
  'POST /images/edits': [
    { body: IMAGE_FORM, headers: { 'content-type': 'multipart/form-data; boundary=b' } },
    { body: { model: 'sandbox-image', prompt: 'Uma catraca' }, status: 400 },
  ],
  'POST /audio/speech': [
    { body: { model: 'sandbox-speech', input: 'Olá' }, status: 400 },
    { body: { model: 'sandbox-error-503', input: 'Olá', voice: 'a' }, status: 400 },
  ],
  'POST /videos': [
    { body: { model: 'sandbox-video', prompt: 'Uma catraca' } },
    { body: { model: 'sandbox-video' }, status: 400 },
  ],
  'GET /videos': [{}, { path: '/videos?limit=0', status: 400 }],
  'GET /videos/{id}': [{ path: '/videos/none', status: 404 }],
  'DELETE /videos/{id}': [{ path: '/videos/none', status: 404 }],
  'GET /videos/{id}/content': [{ path: '/videos/none/content', status: 404 }],
  'POST /audio/transcriptions': [
    { body: FORM, headers: { 'content-type': 'multipart/form-data; boundary=b' } },
    { body: 'no form', status: 400 },
  ],
  'POST /audio/translations': [
    { body: FORM, headers: { 'content-type': 'multipart/form-data; boundary=b' } },
    { body: 'no form', status: 400 },
  ],
  'GET /models': [
    { isAnonymous: true },
    { path: '/models?category=chat' },
    { path: '/models?category=x', status: 400 },
    { path: '/models?limit=0', status: 400 },
    { headers: { authorization: 'Bearer none' }, status: 401 },
    { headers: { 'if-none-match': '"old", *' }, status: 304 },
  ],
  'GET /model-prices': [{ isAnonymous: true }, { headers: { 'if-none-match': '*' }, status: 304 }],
  'GET /model-speeds': [
    { isAnonymous: true },
    { path: '/model-speeds?model_id=gpt-4o' },
    { path: '/model-speeds?model_id=a&model_id=b', status: 400 },
  ],
  'GET /models/{id}': [{ path: '/models/gpt-4o' }, { path: '/models/none', status: 404 }],
  'GET /healthz': [{ isAnonymous: true }],
  'GET /healthz/db': [{ isAnonymous: true }],
  'GET /upstream-health': [{}, { path: '/upstream-health?days=91', status: 400 }],
  'GET /incidents/active': [{ isAnonymous: true }],
  'GET /usage': [{}, { isAnonymous: true, status: 401 }],
  'GET /files/images/{id}': [{ path: '/files/images/none', status: 404 }],
}

export async function createCases(): Promise<ContractCases> {
  return CASES
}

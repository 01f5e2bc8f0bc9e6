import { ask } from '../../harness/ask.ts'
import { beginBatch, chatLine, untilEnded, uploadLines } from '../../harness/batches.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { ContractCases } from './contract-case.ts'

const PARAMS = {
  model: 'sandbox-chat',
  max_tokens: 20,
  messages: [{ role: 'user', content: 'Olá' }],
}
const FORM = { 'content-type': 'multipart/form-data; boundary=b' }
const PURPOSE = '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
const PART = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n{}\r\n'

export async function createCases({ database, node }: TestGateway): Promise<ContractCases> {
  const { secret } = await seedCustomer(database.db, { balanceBrl: '10' })
  const { baseUrl } = node
  const requests = [{ custom_id: 'um', params: PARAMS }]
  const { json: messages } = await ask(baseUrl, '/messages/batches', { secret, body: { requests } })
  const { json: file } = await uploadLines(baseUrl, secret, [chatLine('um')])
  const batchId = await beginBatch(baseUrl, secret, [
    chatLine('um'),
    chatLine('dois', { model: 'x' }),
  ])
  // It waits, again and again.
  const slow = chatLine('um', { model: 'sandbox-error-429' })
  const waiting = await beginBatch(baseUrl, secret, [slow])
  const { json: waitingMessages } = await ask(baseUrl, '/messages/batches', {
    secret,
    body: { requests: [{ custom_id: 'um', params: { ...PARAMS, model: 'sandbox-error-429' } }] },
  })
  await untilEnded(baseUrl, secret, batchId)
  await untilEnded(baseUrl, secret, messages.id)
  const body = {
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  }
  const [ofFile, ofBatch, ofMessages] = [
    `/files/${file.id}`,
    `/batches/${batchId}`,
    `/messages/batches/${messages.id}`,
  ]
  const read = (path: string) => [
    { path, secret },
    { path, status: 404 },
    { path, isAnonymous: true, status: 401 },
  ]
  return {
    'POST /files': [
      { body: `${PURPOSE}${PART}--b--\r\n`, headers: FORM, secret },
      { body: `${PART}--b--\r\n`, headers: FORM, secret, status: 400 },
      { body: `${PURPOSE}${PART}--b--\r\n`, headers: FORM, isAnonymous: true, status: 401 },
    ],
    'GET /files': [
      { secret },
      { path: '/files?purpose=batch_output&limit=1&order=asc', secret },
      { path: `/files?after=${file.id}`, secret },
      { path: '/files?after=x', secret, status: 400 },
      { path: '/files?limit=0', secret, status: 400 },
      { isAnonymous: true, status: 401 },
    ],
    'GET /files/{id}': read(ofFile),
    'GET /files/{id}/content': read(`${ofFile}/content`),
    'POST /batches': [
      { body, secret },
      { body, status: 404 },
      { body: { ...body, completion_window: '1h' }, secret, status: 400 },
      { body, isAnonymous: true, status: 401 },
    ],
    'GET /batches': [
      { secret },
      { path: `/batches?limit=1&after=${batchId}`, secret },
      { path: '/batches?after=x', secret, status: 400 },
      { isAnonymous: true, status: 401 },
    ],
    'GET /batches/{id}': read(ofBatch),
    'POST /batches/{id}/cancel': [
      { path: `/batches/${waiting}/cancel`, body: {}, secret },
      { path: `${ofBatch}/cancel`, body: {}, secret, status: 400 },
      { path: `${ofBatch}/cancel`, body: {}, status: 404 },
      { path: `${ofBatch}/cancel`, body: {}, isAnonymous: true, status: 401 },
    ],
    'POST /messages/batches': [
      { body: { requests }, secret },
      { body: { requests: [] }, secret, status: 400 },
      { body: { requests }, isAnonymous: true, status: 401 },
    ],
    'GET /messages/batches': [
      { secret },
      { path: `/messages/batches?limit=1&after_id=${messages.id}`, secret },
      { path: `/messages/batches?before_id=${messages.id}`, secret },
      { path: '/messages/batches?before_id=x', secret, status: 400 },
      { isAnonymous: true, status: 401 },
    ],
    'GET /messages/batches/{id}': read(ofMessages),
    'GET /messages/batches/{id}/results': read(`${ofMessages}/results`),
    'POST /messages/batches/{id}/cancel': [
      { path: `/messages/batches/${waitingMessages.id}/cancel`, body: {}, secret },
      { path: `${ofMessages}/cancel`, body: {}, secret, status: 400 },
      { path: `${ofMessages}/cancel`, body: {}, status: 404 },
      { path: `${ofMessages}/cancel`, body: {}, isAnonymous: true, status: 401 },
    ],
    'DELETE /messages/batches/{id}': [
      { path: ofMessages, status: 404 },
      { path: ofMessages, secret },
      { path: ofMessages, isAnonymous: true, status: 401 },
    ],
    'DELETE /files/{id}': [
      { path: ofFile, status: 404 },
      { path: ofFile, secret },
      { path: ofFile, isAnonymous: true, status: 401 },
    ],
  }
}

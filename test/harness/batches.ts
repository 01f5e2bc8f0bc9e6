/** Batches of lines, made and read as a client does it. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, credentialHeaders, type Asked } from './ask.ts'

export interface ResultLine {
  readonly custom_id: string
  readonly response: { readonly status_code: number; readonly body: any } | null
  readonly error: { readonly code: string } | null
}

export function chatLine(customId: string, body: object = {}): object {
  const messages = [{ role: 'user', content: 'Olá' }]
  return {
    custom_id: customId,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'sandbox-chat', max_tokens: 20, messages, ...body },
  }
}

/** A text is uploaded as it is. */
export async function uploadLines(
  baseUrl: string,
  secret: string,
  lines: readonly object[] | string,
  fields: Readonly<Record<string, string>> = { purpose: 'batch' },
): Promise<Asked> {
  const text =
    typeof lines === 'string' ? lines : lines.map((line) => JSON.stringify(line)).join('\n')
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([text]), 'linhas.jsonl')
  const headers = credentialHeaders(secret)
  const answer = await fetch(`${baseUrl}/files`, { method: 'POST', headers, body: form })
  const read = await answer.text()
  const { status } = answer
  return {
    requestId: '',
    askedAtMs: 0,
    status,
    headers: answer.headers,
    text: read,
    json: JSON.parse(read),
  }
}

/** Uploads the lines and begins their batch; returns its id. */
export async function beginBatch(
  baseUrl: string,
  secret: string,
  lines: readonly object[],
  endpoint = '/v1/chat/completions',
): Promise<string> {
  const uploaded = await uploadLines(baseUrl, secret, lines)
  assert.equal(uploaded.status, 200, uploaded.text)
  const body = { input_file_id: uploaded.json.id, endpoint, completion_window: '24h' }
  const created = await ask(baseUrl, '/batches', { secret, body })
  assert.equal(created.status, 200, created.text)
  return created.json.id
}

export async function untilEnded(
  baseUrl: string,
  secret: string,
  id: string,
  withinMs = 60_000,
): Promise<any> {
  const path = id.startsWith('msg') ? `/messages/batches/${id}` : `/batches/${id}`
  for (const deadline = Date.now() + withinMs; ; await sleep(100)) {
    const { json, text } = await ask(baseUrl, path, { secret })
    if (json.completed_at ?? json.cancelled_at ?? json.expired_at ?? json.ended_at) return json
    assert.ok(Date.now() < deadline, text)
  }
}

/** The lines of a file of results; none without a file. */
export async function readResultFile(
  baseUrl: string,
  secret: string,
  fileId: string | null,
): Promise<ResultLine[]> {
  if (fileId === null) return []
  const { status, text } = await ask(baseUrl, `/files/${fileId}/content`, { secret })
  assert.equal(status, 200, text)
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

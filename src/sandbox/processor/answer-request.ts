import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject } from '../../platform/lib/is-object.ts'
import { parseExactJson, readCents } from '../../platform/lib/exact-json.ts'
import type { ApiCall, ApiRoute } from './api-call.ts'
import { refundedCentsOf } from './create-refunds.ts'
import type { SandboxState } from './open-state.ts'
import type { PaymentLife } from './payment-life.ts'
import { PAGE_ACTS, renderNotFound, renderPage, type PageAct } from './payment-page.ts'
import type { SandboxFaultKind, SandboxFaults } from './sandbox-faults.ts'
import type { SandboxPayment } from './sandbox-records.ts'
import { Refusal, renderErrors } from './asaas-format.ts'

export interface AnswerDeps {
  readonly state: SandboxState
  readonly life: PaymentLife
  readonly faults: SandboxFaults
  readonly findRoute: (call: Pick<ApiCall, 'method' | 'path'>) => ApiRoute | undefined
  readonly apiKey: string | undefined
  readonly slowMs: number
}

const BODY_BYTES_MAX = 1024 * 1024
const CREATION = 'POST /v3/payments'
const RATE_LIMIT_HEADERS = {
  'ratelimit-limit': '100',
  'ratelimit-remaining': '0',
  'ratelimit-reset': '1',
}
const MAINTENANCE = '<!doctype html><title>Manutenção</title><p>Estamos em manutenção.</p>'
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
}

/** Returns the handler of every request, which never rejects. */
export function createAnswer(
  deps: AnswerDeps,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    try {
      const url = new URL(request.url ?? '/', 'http://sandbox')
      if (/^\/(i|b\/pdf)\//.test(url.pathname)) await answerPage(deps, request, response, url)
      else await answerCall(deps, request, response, url)
    } catch (error) {
      if (error instanceof Refusal) return sendJson(response, error.status, renderErrors(error))
      console.error('the sandbox processor failed:', error)
      if (response.headersSent) response.destroy()
      else sendError(response, 500, 'internal_error', 'Erro interno.')
    }
  }
}

async function answerCall(
  deps: AnswerDeps,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const key = request.headers.access_token
  if (typeof key !== 'string' || key === '' || key !== (deps.apiKey ?? key)) {
    return sendError(response, 401, 'invalid_access_token', 'A chave de API fornecida é inválida.')
  }
  const text = await readText(request)
  const call = { method: request.method ?? 'GET', path: url.pathname, query: url.searchParams }
  if (call.method === 'GET' && text !== '') return void response.writeHead(403).end()
  const route = deps.findRoute(call)
  if (!route) return sendError(response, 404, 'not_found', 'Recurso não encontrado.')
  const body = readJson(text)
  const fault = takeFault(deps, route.endpoint, body)
  if (await failBefore(response, fault, deps.slowMs)) return
  const reportedCentsOf =
    fault === 'other_amount' ? (payment: SandboxPayment) => payment.amountCents / 2n : undefined
  const answer = await route.answer({ ...call, body, reportedCentsOf })
  // Saved before the answer, so that the caller can rely on it even after a crash.
  if (call.method !== 'GET') await deps.state.save()
  if (fault === 'answer_lost') return void response.destroy()
  if (fault === 'no_answer') return
  sendJson(response, 200, answer)
}

function takeFault(
  { faults }: AnswerDeps,
  endpoint: string,
  body: ApiCall['body'],
): SandboxFaultKind | undefined {
  const planned = faults.take(endpoint)
  if (planned !== undefined || endpoint !== CREATION) return planned
  const amountCents = readCents(body.value)
  return amountCents === undefined
    ? undefined
    : faults.takeOfCreation(amountCents, String(body.externalReference))
}

/** Returns true if the fault was the whole answer. */
async function failBefore(
  response: ServerResponse,
  fault: SandboxFaultKind | undefined,
  slowMs: number,
): Promise<boolean> {
  if (fault === 'slow') await sleep(slowMs, undefined, { ref: false })
  else if (fault === 'cut') response.destroy()
  else if (fault === 'error_500') sendError(response, 500, 'internal_error', 'Erro interno.')
  else if (fault === 'rate_limited') response.writeHead(429, RATE_LIMIT_HEADERS).end()
  else if (fault === 'maintenance' || fault === 'maintenance_200') {
    const status = fault === 'maintenance' ? 503 : 200
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(MAINTENANCE)
  } else return false
  return fault !== 'slow'
}

/** `GET` shows the payment, and `POST` with an `acao` changes it. */
async function answerPage(
  { state, life }: AnswerDeps,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const payment = state.payments.get(`pay_${url.pathname.replace(/^\/(i|b\/pdf)\//, '')}`)
  if (!payment) return void response.writeHead(404, PAGE_HEADERS).end(renderNotFound())
  if (request.method !== 'POST') {
    return void response.writeHead(200, PAGE_HEADERS).end(await renderPage(payment))
  }
  const act = new URLSearchParams(await readText(request)).get('acao')
  try {
    if (act === null || !PAGE_ACTS.includes(act)) throw new Refusal(400, 'acao', 'Ação inválida.')
    doOnPage(life, payment, act as PageAct)
    await state.save()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return void response.writeHead(400, PAGE_HEADERS).end(await renderPage(payment, error.message))
  }
  response.writeHead(303, { location: url.pathname }).end()
}

function doOnPage(life: PaymentLife, payment: SandboxPayment, act: PageAct): void {
  switch (act) {
    case 'pagar':
      return life.pay(payment)
    case 'recusar':
      return life.reprove(payment)
    case 'vencer':
      return life.markOverdue(payment)
    case 'contestar':
      return life.chargeBack(payment)
    case 'estornar': {
      const left = payment.amountCents - refundedCentsOf(payment)
      return life.refund(payment, left, 'Estorno pela página de testes')
    }
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new Refusal(413, 'invalid_body', 'O corpo é grande demais.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function readJson(text: string): ApiCall['body'] {
  if (text === '') return {}
  try {
    const body = parseExactJson(text)
    if (isObject(body)) return body
  } catch {
    // Refused below.
  }
  throw new Refusal(400, 'invalid_json', 'O corpo da requisição não é um JSON válido.')
}

function sendError(
  response: ServerResponse,
  status: number,
  code: string,
  description: string,
): void {
  sendJson(response, status, renderErrors(new Refusal(status, code, description)))
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json;charset=UTF-8' })
  response.end(JSON.stringify(body))
}

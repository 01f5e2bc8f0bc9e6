import { assertHeaders } from '../../harness/assert-answer.ts'
import { isModelCall, type createAnswerCheck, type Operation } from '../../harness/operations.ts'
import type { RawRequest } from './raw-request.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** Codes of the server itself, which no operation has: the address does not exist. */
const NOWHERE = new Set(['not_found', 'route_not_found'])

/** Describes the fault of an answer; undefined if there is none. */
export function judge(
  operation: Operation,
  sent: RawRequest,
  answer: Answer,
  faultOf: ReturnType<typeof createAnswerCheck>,
): string | undefined {
  const { status, text } = answer
  if (status === 0 || status >= 500) return `status ${status}: ${text.slice(0, 300)}`
  const contentType = String(answer.headers['content-type'] ?? '')
  const headerFault = faultOfHeaders(answer, sent)
  if (headerFault) return headerFault
  if (sent.isElsewhere && isNowhere(answer)) return undefined
  if (sent.method !== operation.method)
    return isRefused(answer) ? undefined : `${sent.method} is answered with ${status}: ${text}`
  if (isOtherFormat(operation, status, contentType)) return undefined
  return faultOf(operation, { status, contentType, text }) ?? faultOfCode(operation, answer)
}

/** The client chooses the format of a model call, so it may differ from the described one. */
function isOtherFormat(operation: Operation, status: number, contentType: string): boolean {
  return (
    status === 200 &&
    isModelCall(operation) &&
    /^text\/(event-stream|plain|vtt)|^application\/x-subrip/.test(contentType)
  )
}

function faultOfHeaders(
  { headers, status }: Answer,
  { requestId, madeAtMs: askedAtMs }: RawRequest,
): string | undefined {
  const received = new Headers(headers as Record<string, string>)
  try {
    assertHeaders({ headers: received, status, askedAtMs }, requestId)
    return undefined
  } catch (error) {
    return `headers: ${(error as Error).message}`
  }
}

function isNowhere(answer: Answer): boolean {
  const code = codeOf(answer)
  const isWithoutKey = answer.status === 401 && answer.text === ''
  return (answer.status === 404 && code !== undefined && NOWHERE.has(code)) || isWithoutKey
}

/** The answer of another operation whose path with a parameter matches this address. */
function isRefused(answer: Answer): boolean {
  return answer.status >= 400 && codeOf(answer) !== undefined
}

/** The code of an error must be one that the description lists for its status. */
function faultOfCode({ name, described }: Operation, answer: Answer): string | undefined {
  if (answer.status < 400 || answer.text === '') return undefined
  const code = codeOf(answer)
  const { description = '' } = described.responses[answer.status] ?? {}
  return code !== undefined && ` ${description},`.includes(` ${code},`)
    ? undefined
    : `${name} does not describe "${code}" for ${answer.status}: ${answer.text.slice(0, 200)}`
}

/** Reads either format of errors. */
function codeOf({ text }: Answer): string | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: string | { code?: string } }
    return typeof error === 'string' ? error : error?.code
  } catch {
    return undefined
  }
}

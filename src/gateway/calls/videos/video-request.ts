import type { JsonObject } from '../../providers/contract.ts'
import type { CallRequest } from '../call.ts'
import { isAbsent } from '../field-faults.ts'
import { readForm } from '../read-form.ts'
import { isRefusal, refusals, type Refusal } from '../refusal.ts'
import { findRoutingFault, takeRouting } from '../routing/route-choice.ts'

export interface VideoRequest extends CallRequest {
  readonly prompt: string
  /** Undefined: the model's default. */
  readonly seconds: number | undefined
  /** `<width>x<height>`; undefined: the model's default. */
  readonly size: string | undefined
}

export const PROMPT_CHARACTERS_MAX = 32_000

/** Reads a request for a video: a form, as client libraries send it, or JSON. */
export function readVideoRequest(raw: Buffer): VideoRequest | Refusal {
  const form = readForm(raw)
  if (isRefusal(form)) return form
  const { body, files } = form
  const fault = findFault(body, files.length > 0)
  if (fault !== undefined) return refusals.invalidRequest(fault)
  return {
    ...takeRouting(body),
    isStream: false,
    prompt: body.prompt as string,
    seconds: isAbsent(body.seconds) ? undefined : Number(body.seconds),
    size: (body.size as string | null | undefined) ?? undefined,
  }
}

function findFault(body: JsonObject, hasFiles: boolean): string | undefined {
  const { prompt, seconds, size } = body
  if (hasFiles || !isAbsent(body.input_reference))
    return 'Um vídeo aqui parte só do texto; remova "input_reference" e os arquivos.'
  return (
    findRoutingFault(body) ??
    (typeof prompt === 'string' && prompt !== ''
      ? undefined
      : 'O campo "prompt" é obrigatório e deve ser um texto.') ??
    ((prompt as string).length <= PROMPT_CHARACTERS_MAX
      ? undefined
      : `O campo "prompt" aceita até ${PROMPT_CHARACTERS_MAX} caracteres.`) ??
    (isAbsent(seconds) || /^[1-9]\d{0,2}$/.test(wholeText(seconds))
      ? undefined
      : 'O campo "seconds" deve ser um número inteiro de segundos.') ??
    (isAbsent(size) || (typeof size === 'string' && /^\d{1,5}x\d{1,5}$/.test(size))
      ? undefined
      : 'O campo "size" deve ter a forma <largura>x<altura>, como 1280x720.')
  )
}

/** A form has only texts, and OpenAI's own clients write the number as one in JSON, too. */
function wholeText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/**
 * The older format of text completions (`/v1/completions`): a prompt in place of messages. The prompt becomes one message
 * of the user, so every chat model answers it; what only a model without a chat could do (`suffix`, `echo`, several prompts,
 * prompts of token numbers, `logprobs`) is refused, never ignored.
 */
import type { TokenCounts } from '../../../../../money/catalog/prices.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import { decimalBrl, jsonBrl } from '../../../../../platform/lib/money.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { isAbsent } from '../../../field-faults.ts'
import { readJsonBody } from '../../../read-request.ts'
import { isRefusal, refusalBody, refusals } from '../../../refusal.ts'
import type { WholeChatFormat } from '../../chat-format.ts'
import { readChatRequest } from '../../chat-request.ts'
import { presetInCompletion } from '../presets.ts'
import { publicFinishReason, publicUsage } from '../chat-completions/chat-completions-format.ts'

/** What the format's own documentation says for a request without a limit. */
const TOKENS_DEFAULT = 16

export const completionsFormat: WholeChatFormat = {
  readRequest(raw) {
    const body = readJsonBody(raw)
    if (isRefusal(body)) return body
    const { prompt, suffix: _suffix, best_of: _bestOf, echo: _echo, ...others } = body
    const text: unknown = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt
    const fault = findFault(body, text)
    if (fault !== undefined) return refusals.invalidRequest(fault)
    delete others.logprobs
    const chat = { ...others, messages: [{ role: 'user', content: text }] }
    return readChatRequest(
      isAbsent(body.max_tokens) ? { ...chat, max_tokens: TOKENS_DEFAULT } : chat,
      raw.length,
    )
  },
  withPreset: presetInCompletion,
  createWriter({ id, modelId, request }) {
    const head = {
      id: `cmpl-${id}`,
      object: 'text_completion',
      created: Math.floor(Date.now() / 1_000),
      model: modelId,
    }
    const eventOf = (fields: object): string => JSON.stringify({ ...head, ...fields })
    return {
      answer: ({ choices }, charged) =>
        eventOf({
          choices: textChoices(choices, 'message'),
          usage: publicUsage(charged),
          cost_billed_brl: jsonBrl(charged.billedNanoBrl),
        }),
      chunk({ choices }) {
        const shown = textChoices(choices, 'delta')
        return shown.length === 0 ? undefined : `data: ${eventOf({ choices: shown })}\n\n`
      },
      end: (charged) => `${request.wantsUsage ? usageEvent(head, charged) : ''}data: [DONE]\n\n`,
      broken: (refused) => `data: ${refusalBody(refused)}\n\n`,
    }
  },
}

function findFault(body: JsonObject, text: unknown): string | undefined {
  if (typeof text !== 'string' || text === '')
    return 'O campo "prompt" é obrigatório e deve ser um texto. Vários textos de uma vez e números de tokens não são aceitos.'
  if (!isAbsent(body.suffix) && body.suffix !== '')
    return 'O campo "suffix" não é aceito: os modelos daqui respondem a conversas e não completam o meio de um texto.'
  if (!isAbsent(body.echo) && body.echo !== false) return 'O campo "echo" não é aceito.'
  if (!isAbsent(body.logprobs)) return 'O campo "logprobs" não é aceito em /v1/completions.'
  if (!isAbsent(body.best_of) && body.best_of !== 1 && body.best_of !== (body.n ?? 1))
    return 'O campo "best_of" não é aceito: use "n", e escolha entre as respostas.'
  return undefined
}

/** Choices of a chat as text: what is no text, such as reasoning, has no place in this format. */
function textChoices(choices: unknown, part: 'message' | 'delta'): JsonObject[] {
  if (!Array.isArray(choices)) return []
  return choices.filter(isObject).map((choice) => {
    const { index = 0, finish_reason: reason } = choice
    const said = isObject(choice[part]) ? choice[part] : {}
    const text = [said.content, said.refusal].find(
      (each) => typeof each === 'string' && each !== '',
    )
    return { text: text ?? '', index, logprobs: null, finish_reason: publicFinishReason(reason) }
  })
}

/** For clients that set `stream_options.include_usage`. */
function usageEvent(
  head: object,
  charged: TokenCounts & { readonly billedNanoBrl: bigint },
): string {
  const text = JSON.stringify({ ...head, choices: [], usage: publicUsage(charged) })
  return `data: ${text.slice(0, -1)},"cost_billed_brl":${decimalBrl(charged.billedNanoBrl)}}\n\n`
}

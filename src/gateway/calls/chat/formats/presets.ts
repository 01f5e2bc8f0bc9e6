/**
 * Writes what a preset sets into a request, as each format has it: its text before the caller's instructions, its fields
 * where the caller sets none, and its limit of the output as the most.
 */
import type { PromptParameters } from '../../../../customers/prompts/read-prompts.ts'
import { isObject } from '../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../providers/contract.ts'
import { isAbsent } from '../../field-faults.ts'
import { messageAt, numberOf, protoFields } from './gemini/proto-json.ts'
import { textsOf } from './gemini/to-chat-messages.ts'

export interface Preset {
  readonly model: string
  readonly text: string
  readonly parameters: PromptParameters
}

/** May throw `InvalidField`. */
export type WritePreset = (body: JsonObject, preset: Preset) => JsonObject

export const presetInChat: WritePreset = (body, preset) => ({
  ...withDefaults(body, preset),
  ...limitsOf(body, ['max_completion_tokens', 'max_tokens'], preset),
  messages: Array.isArray(body.messages)
    ? [{ role: 'system', content: preset.text }, ...(body.messages as unknown[])]
    : body.messages,
})

export const presetInCompletion: WritePreset = (body, preset) => {
  const { prompt } = body
  const [text] = Array.isArray(prompt) && prompt.length === 1 ? (prompt as unknown[]) : [prompt]
  return {
    ...withDefaults(body, preset),
    ...limitsOf(body, ['max_tokens', 'max_completion_tokens'], preset),
    prompt: typeof text === 'string' && text !== '' ? joined(preset.text, text) : prompt,
  }
}

export const presetInResponse: WritePreset = (body, preset) => {
  const instructions = body.instructions ?? ''
  return {
    ...withDefaults(body, preset),
    ...limitsOf(body, ['max_output_tokens'], preset),
    instructions:
      typeof instructions === 'string' ? joined(preset.text, instructions) : instructions,
  }
}

export const presetInMessages: WritePreset = (body, preset) => {
  const system = body.system ?? []
  const own = { type: 'text', text: preset.text }
  return {
    ...withDefaults(body, preset),
    ...limitsOf(body, ['max_tokens'], preset),
    system: Array.isArray(system)
      ? [own, ...(system as unknown[])]
      : typeof system === 'string'
        ? joined(preset.text, system)
        : system,
  }
}

export const presetInGemini: WritePreset = (body, preset) => {
  const fields = protoFields(body)
  const config = messageAt(fields.generationConfig, 'generationConfig')
  const { temperature, top_p: topP } = preset.parameters
  const limit = { maxOutputTokens: numberOf(config.maxOutputTokens) }
  return {
    ...withRouting(fields, preset),
    systemInstruction: {
      parts: [preset.text, ...textsOf(fields.systemInstruction, 'systemInstruction')].map(
        (text) => ({ text }),
      ),
    },
    generationConfig: {
      temperature,
      topP,
      ...config,
      ...limitsOf(limit, ['maxOutputTokens'], preset),
    },
  }
}

function joined(text: string, others: string): string {
  return others === '' ? text : `${text}\n\n${others}`
}

function withDefaults(body: JsonObject, preset: Preset): JsonObject {
  const { temperature, top_p } = preset.parameters
  return {
    ...withRouting(body, preset),
    temperature: body.temperature ?? temperature,
    top_p: body.top_p ?? top_p,
  }
}

function withRouting(body: JsonObject, { model, parameters }: Preset): JsonObject {
  const { provider, models } = body
  const merged =
    isObject(provider) && parameters.provider ? { ...parameters.provider, ...provider } : provider
  return {
    ...body,
    model,
    // The list may begin with the preset's own name.
    models: Array.isArray(models) ? models.filter((id) => id !== body.model) : models,
    provider: merged ?? parameters.provider,
  }
}

/** The limits that the caller sets, at most the preset's; if it sets none, the last of the names has the preset's. */
function limitsOf(
  body: JsonObject,
  names: readonly string[],
  { parameters: { max_tokens: max } }: Preset,
): JsonObject {
  if (max === undefined) return {}
  const given = names.filter((name) => !isAbsent(body[name]))
  if (given.length === 0) return { [names.at(-1) as string]: max }
  return Object.fromEntries(
    given.map((name) => {
      const limit = body[name]
      return [name, typeof limit === 'number' ? Math.min(limit, max) : limit]
    }),
  )
}

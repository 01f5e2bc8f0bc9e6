/** `@preset/<slug>` as a model: a saved prompt of the customer's, with its model, its limits and its routes. */
import type { Prompt } from '../../../customers/prompts/read-prompts.ts'
import {
  TIMED_FROM_BYTES,
  TOO_MANY_WAIT,
  type OwnTime,
} from '../../../platform/admission/own-time.ts'
import type { Log } from '../../../platform/lib/log.ts'
import type { JsonObject } from '../../providers/contract.ts'
import { readJsonBody } from '../read-request.ts'
import { isRefusal, refusals, type Refusal } from '../refusal.ts'
import { splitVariant } from '../routing/route-choice.ts'
import { InvalidField } from './formats/fields.ts'
import type { Preset, WritePreset } from './formats/presets.ts'

export interface Presets {
  /** Read for each call, so that a change counts at once on all nodes. */
  find(customerId: string, slug: string): Promise<Prompt | undefined>
  readonly time: OwnTime
  readonly log: Pick<Log, 'error'>
}

const SLUG = /^@preset\/([a-z0-9-]{1,150})$/
/** Hardly any other body has it, so only these are parsed once more. It has no slash: some clients escape it. */
const MARK = Buffer.from('@preset')

type Read<Request> = Request | Refusal | Promise<Request | Refusal>

/**
 * Reads a request by `read`. If its model is a preset, that reads the request for which the preset stands, so nothing
 * behind it knows of presets. One that the customer does not have is left as it is: an unknown model.
 */
export function readWithPreset<Request extends object>(
  { raw, customerId, write }: { raw: Buffer; customerId: string; write: WritePreset },
  presets: Presets | undefined,
  read: (raw: Buffer) => Read<Request>,
): Read<Request> {
  if (!presets || !raw.includes(MARK)) return read(raw)
  const body = readJsonBody(raw)
  if (isRefusal(body) || typeof body.model !== 'string') return read(raw)
  const { name } = splitVariant(body.model)
  const slug = SLUG.exec(name)?.[1]
  if (slug === undefined) return read(raw)
  const variant = body.model.slice(name.length)
  return presets.find(customerId, slug).then(
    (prompt) => {
      if (!prompt) return read(raw)
      const preset = toPreset(prompt, variant)
      if ('kind' in preset) return preset
      return readInTurn(presets.time, customerId, raw.length, () => {
        const written = writeSoundly(write, body, preset)
        return isRefusal(written) ? written : read(Buffer.from(JSON.stringify(written)))
      })
    },
    (error: unknown) => {
      presets.log.error('preset_not_read', { customerId, error })
      return refusals.serviceUnavailable()
    },
  )
}

function toPreset(
  { slug, body, variables, defaultModel, parameters }: Prompt,
  variant: string,
): Preset | Refusal {
  if (defaultModel === null)
    return refusals.invalidRequest(
      `O prompt "${slug}" não tem um modelo: escolha um em "default_model".`,
    )
  if (variables.length > 0)
    return refusals.invalidRequest(
      `O prompt "${slug}" tem variáveis, que aqui não têm valor: só um prompt sem elas é chamado como modelo.`,
    )
  return { model: defaultModel + variant, text: body, parameters }
}

function writeSoundly(write: WritePreset, body: JsonObject, preset: Preset): JsonObject | Refusal {
  try {
    return write(body, preset)
  } catch (error) {
    if (error instanceof InvalidField) return refusals.invalidRequest(error.message)
    throw error
  }
}

/** The time of what follows the look-up is the customer's own, too. */
async function readInTurn<Request>(
  time: OwnTime,
  customerId: string,
  bytes: number,
  read: () => Read<Request>,
): Promise<Request | Refusal> {
  if (bytes <= TIMED_FROM_BYTES) return read()
  const request = await time.takeInTurn(customerId, read)
  return request === TOO_MANY_WAIT ? refusals.tooManyCalls(time.waitingMax) : request
}

/**
 * Measures the body of a chat by letting the package build it without sending it. So no rule of ours has to model the
 * text that each package adds or repeats.
 */
import { parseExactly } from '../../../platform/lib/exact-json.ts'
import type { ChatContent, JsonObject } from '../contract.ts'
import type { AiSdkOptions } from './ai-sdk-options.ts'
import { headOf } from './native-messages/send-native-messages.ts'
import { nativeCallOptions } from './native-messages/native-call-options.ts'
import {
  writeNativeMessages,
  type NativeMessages,
} from './native-messages/write-native-messages.ts'
import { openModels } from './open-models.ts'
import type { FileContent, ReadFile } from './read-file.ts'
import { toCallOptions } from './to-call-options.ts'

/** Allowance for parts that vary with the output limit: its digits, and an optional reasoning budget. */
const LIMIT_BYTES_MAX = 256
/** A placeholder for credentials and ids, which are never sent. */
const PLACEHOLDER = 'measured'

/** Thrown by `measure` instead of sending the request. */
class Measured extends Error {
  readonly body: unknown
  constructor(body: unknown) {
    super('measured')
    this.body = body
  }
}

/** A body, without sending it: its text by the package or, of a native one, what writes it. */
export interface BuiltChat {
  readonly body?: unknown
  readonly native?: NativeMessages | undefined
  readonly bytes: number
}

export function createMeasureChat(
  build: ReturnType<typeof createBuildChat>,
): (content: ChatContent) => Promise<number | undefined> {
  return async function measureChat(content) {
    const built = await build(content)
    return built && built.bytes + LIMIT_BYTES_MAX
  }
}

/** Builds bodies as the adapter would send them. */
export function createBuildChat(
  options: AiSdkOptions,
): (content: ChatContent) => Promise<BuiltChat | undefined> {
  const models = openModels(withoutCredentials(options), measure, async () => PLACEHOLDER)
  return async function buildChat(content) {
    let native: NativeMessages | undefined
    try {
      native = writeNativeMessages(content, options.kind, content.model)
      // Sent without the package.
      if (native && options.kind === 'anthropic')
        return { native, bytes: native.measure(headOf(content)) }
      const model = models.language(content.model)
      const call = { ...content, callId: PLACEHOLDER }
      const { signal } = new AbortController()
      const request = native
        ? nativeCallOptions(call, native, signal)
        : await toCallOptions(call, model, options.kind, readAsNothing, signal)
      await (content.isStream ? model.doStream(request) : model.doGenerate(request))
    } catch (error) {
      if (error instanceof Measured) {
        const { body } = error
        return { body, native, bytes: bytesOf(body, native) }
      }
    }
    // A body that cannot be built cannot be sent either; the call itself reports the reason.
    return undefined
  }
}

const measure: typeof globalThis.fetch = async (_input, init) => {
  throw new Measured(init?.body)
}

function bytesOf(body: unknown, native: NativeMessages | undefined): number {
  if (typeof body !== 'string') return Infinity
  return native ? native.measure(parseExactly(body) as JsonObject) : Buffer.byteLength(body)
}

/** Image data is not measured; an address is, because it may be sent as text. */
const readAsNothing: ReadFile = Object.assign(readNothing, { data: readNothing })

async function readNothing(url: string): Promise<FileContent> {
  const data = /^data:/i.test(url) ? '' : encodeURI(url)
  return { mediaType: 'image/png', data: { type: 'data', data: `AAAA${data}` } }
}

function withoutCredentials(options: AiSdkOptions): AiSdkOptions {
  const { bedrock } = options
  return {
    ...options,
    apiKey: PLACEHOLDER,
    // With a bearer key, the package does not sign requests.
    ...(bedrock ? { bedrock: { region: bedrock.region } } : {}),
  }
}

/**
 * How large the body of a chat is that a package would send, found by letting it make the body and
 * sending nothing: no rule of ours has to know what each package adds to a request or repeats of it.
 */
import type { ChatContent } from '../contract.ts'
import type { AiSdkOptions } from './ai-sdk-options.ts'
import { openModels } from './open-models.ts'
import type { FileContent, ReadFile } from './read-file.ts'
import { toCallOptions } from './to-call-options.ts'

/** For what differs with the limit of output: the limit's own digits, and a budget of thinking or none. */
const LIMIT_BYTES_MAX = 256
/** Nothing opens it. */
const NOBODY = 'measured'

/** Thrown in place of an answer. */
class Measured extends Error {
  readonly bytes: number
  constructor(bytes: number) {
    super('measured')
    this.bytes = bytes
  }
}

export function createMeasureChat(
  options: AiSdkOptions,
): (content: ChatContent) => Promise<number | undefined> {
  const models = openModels(withoutCredentials(options), measure, async () => NOBODY)
  return async function measureChat(content) {
    try {
      const model = models.language(content.model)
      const call = { ...content, callId: NOBODY }
      const { signal } = new AbortController()
      const request = await toCallOptions(call, model, options.kind, readAsNothing, signal)
      await (content.isStream ? model.doStream(request) : model.doGenerate(request))
    } catch (error) {
      if (error instanceof Measured) return error.bytes + LIMIT_BYTES_MAX
    }
    // What cannot be made is not sent either; why is told when it is tried.
    return undefined
  }
}

const measure: typeof globalThis.fetch = async (_input, init) => {
  const body = init?.body
  throw new Measured(typeof body === 'string' ? Buffer.byteLength(body) : Infinity)
}

/** An image is not part of the measure; its address is text that may be sent. */
const readAsNothing: ReadFile = Object.assign(readNothing, { data: readNothing })

async function readNothing(url: string): Promise<FileContent> {
  const data = /^data:/i.test(url) ? '' : encodeURI(url)
  return { mediaType: 'image/png', data: { type: 'data', data: `AAAA${data}` } }
}

function withoutCredentials(options: AiSdkOptions): AiSdkOptions {
  const { bedrock } = options
  return {
    ...options,
    apiKey: NOBODY,
    // The key of a bearer is not signed with.
    ...(bedrock ? { bedrock: { region: bedrock.region } } : {}),
  }
}

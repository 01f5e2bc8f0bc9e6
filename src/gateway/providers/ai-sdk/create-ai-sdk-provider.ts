/**
 * The adapter for upstreams without the chat-completions format. The AI SDK's provider packages translate requests and
 * answers, over connections that we open.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { APICallError } from '@ai-sdk/provider'
import { parseExactly, markIntegers } from '../../../platform/lib/exact-json.ts'
import { beyond, type TakeBytes } from '../../../platform/admission/share.ts'
import {
  UNCOUNTED_BYTES,
  type ChatCall,
  type ChatContent,
  type JsonObject,
  type Provider,
  type UpstreamFailure,
} from '../contract.ts'
import type { AiSdkOptions } from './ai-sdk-options.ts'
import { createEmbed } from './embed.ts'
import { createGenerateImages } from './generate-images.ts'
import { createGoogleVideos } from './google-videos.ts'
import { createBuildChat, createMeasureChat } from './measure-chat.ts'
import { openFetch, type Fetch } from './open-fetch.ts'
import { nativeCallOptions } from './native-messages/native-call-options.ts'
import { createSendNativeMessages, headOf } from './native-messages/send-native-messages.ts'
import {
  searchRoundsOfMessage,
  writeNativeMessages,
  type NativeMessages,
} from './native-messages/write-native-messages.ts'
import { openModels } from './open-models.ts'
import { createGetToken } from './open-vertex.ts'
import { createDownloadFile, type DownloadFile } from '../download-file.ts'
import { createReadFile } from './read-file.ts'
import { toCallOptions } from './to-call-options.ts'
import { toChatAnswer, toNativeAnswer } from './to-chat-answer.ts'
import { brokenStream, toChatStream } from './to-chat-stream.ts'
import { toFailure } from './to-failure.ts'
import { isObject } from '../../../platform/lib/is-object.ts'

/**
 * Returns an answer as the packages can read it. They parse with numbers of 53 bits, fail on events without data, and
 * refuse a whole answer for one part of Anthropic's that is newer than they are; Anthropic says that clients must
 * ignore those. `unmarkIntegers` writes the integers of a tool's arguments again.
 */
function toReadableAnswer(response: Response, kind: AiSdkOptions['kind']): Response {
  const type = response.headers.get('content-type') ?? ''
  const isClaude = kind === 'anthropic' || kind === 'google-vertex'
  if (!response.ok || !response.body) return response
  const readable = /^text\/event-stream\b/i.test(type)
    ? response.body.pipeThrough(new TextDecoderStream()).pipeThrough(readLines(isClaude))
    : /^application\/json\b/i.test(type)
      ? response.body.pipeThrough(new TextDecoderStream()).pipeThrough(readWhole(isClaude))
      : undefined
  return readable ? new Response(readable.pipeThrough(new TextEncoderStream()), response) : response
}

function readLines(isClaude: boolean): TransformStream<string, string> {
  let rest = ''
  const read = (line: string): string => {
    if (!line.startsWith('data:')) return line
    const data = line.slice('data:'.length).trim()
    // A comment in its place keeps the empty line behind it from ending an event.
    if (data === '') return ':'
    const marked = markIntegers(data)
    const known = isClaude && EVENTS_WITH_USAGE.test(marked) ? withoutNewParts(marked) : marked
    return known === data ? line : `data: ${known}`
  }
  return new TransformStream({
    transform(text, controller) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      if (lines.length > 0) controller.enqueue(`${lines.map(read).join('\n')}\n`)
    },
    flush(controller) {
      if (rest !== '') controller.enqueue(read(rest))
    },
  })
}

function readWhole(isClaude: boolean): TransformStream<string, string> {
  let whole = ''
  return new TransformStream({
    transform(text) {
      whole += text
    },
    flush(controller) {
      const marked = markIntegers(whole)
      controller.enqueue(isClaude ? withoutNewParts(marked) : marked)
    },
  })
}

/** Only these have the parts below, and a stream has one of each. */
const EVENTS_WITH_USAGE = /^\{\s*"type"\s*:\s*"message_(?:start|delta)"/
const BLOCKS: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use'])

/**
 * Removes the newer parts of a message, or of an event that has one or its usage. Nothing of them was asked for, and the
 * usage beside them counts all that is billed.
 */
function withoutNewParts(text: string): string {
  try {
    const event: unknown = JSON.parse(text)
    if (!isObject(event)) return text
    for (const carrier of [event, event.message].filter(isObject)) {
      delete carrier.context_management
      if (isObject(carrier.usage)) delete carrier.usage.iterations
      if (Array.isArray(carrier.content)) carrier.content = carrier.content.filter(isKnownBlock)
    }
    return JSON.stringify(event)
  } catch {
    // No JSON, or arguments that are too deep to be written: the package reads it as it is.
    return text
  }
}

function isKnownBlock(block: unknown): boolean {
  return !isObject(block) || BLOCKS.has(block.type)
}

/** Gemini opens an address by what it leads to, also as a video or a document, whatever type the request names. */
const OPENS_ANYTHING: ReadonlySet<AiSdkOptions['kind']> = new Set(['google', 'google-vertex'])

/**
 * Creates the adapter of an upstream that the AI SDK's packages call. Throws a TypeError if the upstream's credentials,
 * project or region are missing.
 */
export function createAiSdkProvider(options: AiSdkOptions): Provider {
  const connection = openFetch(options)
  /** The packages call `fetch` themselves, and do not tell which call it is for. */
  const running = new AsyncLocalStorage<Sending>()
  const fetch: Fetch = async (input, init) => {
    const sending = running.getStore()
    if (!sending) return connection.fetch(input, init)
    const written = withBody(init, sending.native)
    sending.hasSent = true
    const onSending = (): void => void (sending.isWithUpstream = true)
    const { takeBytes, outputTokensMax } = sending
    const of = { onSending, takeBytes, outputTokensMax }
    return toReadableAnswer(await connection.fetch(input, written, of), options.kind)
  }
  const models = openModels(options, fetch, createGetToken(options.vertex, connection.fetch))
  const direct = options.kind === 'anthropic' ? createSendNativeMessages(options) : undefined
  const build = createBuildChat(options)
  const makesImages = options.kind === 'google' || options.kind === 'google-vertex'

  /** The plain answers of a call are counted together. */
  function counted<Call extends { readonly takeBytes?: TakeBytes | undefined }, Outcome>(
    act: (call: Call, signal: AbortSignal) => Promise<Outcome>,
  ): (call: Call, signal: AbortSignal) => Promise<Outcome> {
    return (call, signal) => running.run(newSending(call.takeBytes), () => act(call, signal))
  }

  async function completeChat(
    call: ChatCall,
    callerSignal: AbortSignal,
    sending: Sending,
    download: DownloadFile,
  ) {
    const canceller = new AbortController()
    const signal = AbortSignal.any([callerSignal, canceller.signal])
    try {
      const model = models.language(call.model)
      const native = direct ? undefined : writeNativeMessages(call, options.kind, model.modelId)
      if (native) {
        sending.native = native
        const request = nativeCallOptions(call, native, signal)
        if (!call.isStream) return toNativeAnswer(await model.doGenerate(request), call)
        const { stream } = await model.doStream(request)
        return toChatStream(stream, call, canceller, signal, true)
      }
      const readFile = createReadFile(
        {
          addresses: await model.supportedUrls,
          opensOnlyImages: !OPENS_ANYTHING.has(options.kind),
        },
        download,
      )
      const request = await toCallOptions(call, model, options.kind, readFile, signal)
      if (!call.isStream) return toChatAnswer(await model.doGenerate(request), call)
      const { stream } = await model.doStream(request)
      return toChatStream(stream, call, canceller, signal)
    } catch (error) {
      const failure = withSending(toFailure(error, signal, sending.hasSent), sending)
      // The packages leave the connection open when they give up on a stream.
      canceller.abort()
      return isOfStream(error) && failure.reason !== 'aborted' ? brokenStream(failure) : failure
    }
  }

  async function countPrompt(content: ChatContent): Promise<number | undefined> {
    const { native, body } = (await build(content)) ?? {}
    const text = native ? native.write(headOf(content)) : body
    return typeof text === 'string'
      ? direct?.count(JSON.parse(text) as JsonObject, native?.flags)
      : undefined
  }

  return {
    cancelStopsBilling: options.cancelStopsBilling,
    async completeChat(call, signal) {
      const takeBytes = call.takeBytes && beyond(UNCOUNTED_BYTES, call.takeBytes)
      const sending = newSending(takeBytes, call.outputTokensMax)
      const allowPrivate = options.allowPrivateDownloads ?? false
      const own = await direct?.send(call, signal)
      if (own) return own
      const download = createDownloadFile(signal, allowPrivate, call.takeBytes)
      return running.run(sending, () => completeChat(call, signal, sending, download))
    },
    measureChat: createMeasureChat(build),
    ...(direct ? { countPrompt } : {}),
    cachesOnRequest: true,
    searchRounds: (content) => searchRoundsOfMessage(content, options.kind),
    ...(models.embedding ? { embed: counted(createEmbed(options.kind, models.embedding)) } : {}),
    ...(makesImages ? { generateImages: counted(createGenerateImages(models.language)) } : {}),
    ...(options.kind === 'google' ? { videos: createGoogleVideos(options, connection.fetch) } : {}),
    async close() {
      await Promise.all([connection.close(), direct?.close()])
    },
  }
}

interface Sending {
  /** The package has written the request and has passed it to `fetch`. */
  hasSent: boolean
  /** A connection has begun to send the request. */
  isWithUpstream: boolean
  /** Writes the body instead of the package. */
  native: NativeMessages | undefined
  /** Of all plain answers of the call together. */
  readonly takeBytes: TakeBytes | undefined
  /** Of a chat. */
  readonly outputTokensMax: number | undefined
}

function newSending(takeBytes: TakeBytes | undefined, outputTokensMax?: number): Sending {
  return { hasSent: false, isWithUpstream: false, native: undefined, takeBytes, outputTokensMax }
}

function withBody(
  init: RequestInit | undefined,
  native: NativeMessages | undefined,
): RequestInit | undefined {
  return native
    ? { ...init, body: native.write(parseExactly(init?.body as string) as JsonObject) }
    : init
}

/** Marks a time-out or an abort after which no upstream has worked: of the access token, of a file, of the queue. */
function withSending(failure: UpstreamFailure, sending: Sending): UpstreamFailure {
  const { reason } = failure
  const isTimeout = reason === 'first_byte_timeout' || reason === 'idle_timeout'
  const isUnsent =
    (isTimeout && !sending.hasSent) || (reason === 'aborted' && !sending.isWithUpstream)
  return isUnsent ? { ...failure, isUnsent } : failure
}

/** Whether a stream opened and its first event was an error; some packages read that event before they return. */
function isOfStream(error: unknown): boolean {
  return (
    APICallError.isInstance(error) &&
    error.responseHeaders?.['content-type']?.startsWith('text/event-stream') === true
  )
}

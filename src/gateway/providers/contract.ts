/**
 * The interface of an upstream adapter. An adapter owns the protocol of one upstream: addresses, credentials, time-outs,
 * and the shape of requests and answers. It knows no customer, no database and no money. Every chat answer that it
 * returns has the chat-completions shape, with the usage already parsed.
 */

import type { TakeBytes } from '../../platform/admission/share.ts'

export type JsonObject = { [key: string]: unknown }

/** Tokens as the upstream reports them. `TokenCounts` in the catalog defines which counts include others. */
export interface ReportedTokens {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
}

/** The usage of any kind of call. The tokens named here are included in the prompt and completion tokens. */
export interface ReportedUsage extends ReportedTokens {
  readonly audioInputTokens?: number
  readonly imageInputTokens?: number
  readonly imageOutputTokens?: number
  /** The part of `cacheWriteTokens` with a lifetime of one hour. */
  readonly hourCacheWriteTokens?: number
  /** Seconds of audio that the upstream bills. */
  readonly audioSeconds?: number
  /** Queries with up to a hundred documents each that the upstream bills. */
  readonly searchUnits?: number
  /** Searches of the web that the upstream ran and bills; only for a call that was sent with some. */
  readonly webSearches?: number
}

/** The properties of a chat that determine its size at an upstream. */
export interface ChatContent {
  /** The upstream's name for the model. */
  readonly model: string
  /** The client's chat-completions request. Its `model` and output limits are never sent; the fields here replace them. */
  readonly body: JsonObject
  /** Shared by all measurements and attempts of a request: the bodies that adapters serialized, to be sent as they are. */
  readonly memo: {
    written?: unknown
    writtenNatively?: unknown
  }
  readonly isStream: boolean
  /**
   * The output tokens per choice that the hold covers. Always sent, in the field that the upstream obeys, and as the
   * only limit.
   */
  readonly outputTokensMax: number
  /** The base64 characters of images in the request. */
  readonly imageBytes: number
  /** An image is given by an http(s) address. An upstream that opens it may find any kind of content. */
  readonly hasImageAddresses: boolean
  /** A content part or a tool carries `cache_control`. */
  readonly hasCacheControl: boolean
  /** A `cache_control` asks for a lifetime of one hour. */
  readonly cachesForAnHour: boolean
  /**
   * The request in the client's own format. An adapter whose upstream speaks that format sends the fields of it that
   * its lists name; all others send `body`, which says the same as far as the chat-completions shape can.
   */
  readonly native?: NativeChat | undefined
  /** The request has files: documents or audio. */
  readonly hasFiles: boolean
  /**
   * The documents that `native` gives by their addresses, by these; those of `body` are in their places. Undefined before
   * the download, which is after the hold, once for all routes.
   */
  readonly documents?: ReadonlyMap<string, InlinedDocument> | undefined
  /** A file of the request is audio, which has a separate price. */
  readonly hasAudio: boolean
  /**
   * The searches of the web that the hold covers. Sent as the only limit of them; with 0, the search is left out of the
   * request.
   */
  readonly webSearchesMax: number
  /** Called if an upstream that speaks the client's own format gets a translation all the same. */
  readonly onTranslated?: ((reason: TranslationReason) => void) | undefined
}

/** A document that was given by its address. */
export interface InlinedDocument {
  readonly type: string
  /** A data URL. */
  readonly url: string
  /** For a file without a name. */
  readonly filename: string
}

/** What a request has that its upstream does not take in the client's own format. */
export type TranslationReason =
  | 'audio'
  | 'image_address'
  | 'output_limit'
  | 'sampling'
  | 'schema'
  | 'thinking'
  /** The upstream refused the request in its own format. */
  | 'refused'

/** A request in a client's own format, checked as far as its translation to `ChatContent.body` shows it. */
export interface NativeChat {
  readonly format: 'messages' | 'responses'
  readonly body: JsonObject
  /** The flags of new features that the client sent in a header. */
  readonly flags: readonly string[]
  /** The searches of the web that the client asks for, within our limit; 0 for none. */
  readonly webSearches: number
  /** The choice of a tool names the search: without it, the answer would be another. */
  readonly mustSearch?: boolean
}

/**
 * How often the upstream may run the model for one call with searches. Each time it bills the whole prompt again, at most
 * the model's context.
 */
export interface SearchRounds {
  readonly prompts: number
  /** How often the model may write up to the output limit: 1 if the limit is for all rounds together. */
  readonly outputs: number
}

export interface ChatCall extends ChatContent {
  /** Our id of the call, sent to the upstream for correlation. */
  readonly callId: string
  /** Counts bytes that the adapter keeps for the call: downloaded files, and what is large of an answer. */
  readonly takeBytes?: TakeBytes | undefined
}

/** Why an upstream gave no answer. `detail` is for logs only, must never reach a customer, and has
 * no text of the request or the answer (`error-words.ts`). */
export interface UpstreamFailure {
  readonly kind: 'failure'
  readonly reason:
    | 'connect_failed'
    | 'first_byte_timeout'
    | 'idle_timeout'
    | 'connection_lost'
    | 'bad_answer'
    /**
     * The answer is longer than the gateway reads. The upstream bills it, and any other upstream would generate the same
     * for nothing.
     */
    | 'answer_too_long'
    /** The upstream refused the request as invalid; any other upstream would, too. */
    | 'refused_request'
    /**
     * The files of the request, of which nothing was sent, or the images of the answer do not fit into the memory for the
     * customer's calls.
     */
    | 'no_room'
    /** Set by the gateway: the customer had too many plain answers that nobody pays. */
    | 'unpaid_work'
    /** The adapter cannot send this request; another route may. Nothing was sent. */
    | 'unsupported'
    | 'rate_limited'
    | 'credentials_refused'
    | 'server_error'
    | 'aborted'
  readonly status?: number
  readonly retryAfterSeconds?: number
  readonly detail: string
  /** Failed before anything was sent: aborted while waiting for a connection, or without an access token. */
  readonly isUnsent?: boolean
  /** What a refused request did wrong, where clients can mend it by themselves (`find-request-fault.ts`). */
  readonly requestFault?: 'context_too_long' | 'content_refused' | 'address_refused'
  /** The request explains this failure, and the upstream may have worked for it: no other route or model is tried. */
  readonly isFinal?: boolean
  /** Aborted because the client hung up, not by the time limit of the call. */
  readonly isByClient?: boolean
}

/** The most bytes of a plain chat answer that an adapter reads; a longer one fails with `answer_too_long`. */
export const CHAT_ANSWER_BYTES_MAX = 64 * 1024 * 1024
/** The bytes of a shorter answer are not counted: the number of calls bounds their memory. */
export const UNCOUNTED_BYTES = 256 * 1024
/** The longest event of a stream with a small limit. */
const EVENT_BYTES_MIN = 1024 * 1024
const EVENT_BYTES_MAX = 16 * 1024 * 1024
/** The longest tokens have 128 bytes, and JSON writes some characters with two. */
const EVENT_BYTES_PER_TOKEN = 256

/**
 * Returns the most bytes of an event of a stream. Some upstreams send a call of a tool with all its arguments in one,
 * of which a customer decides how long they are.
 */
export function eventBytesMax({ outputTokensMax }: Pick<ChatContent, 'outputTokensMax'>): number {
  const bytes = outputTokensMax * EVENT_BYTES_PER_TOKEN
  return Math.min(Math.max(bytes, EVENT_BYTES_MIN), EVENT_BYTES_MAX)
}

export interface ChatAnswer {
  readonly kind: 'answer'
  readonly body: JsonObject
  /** The answer in the format of `ChatContent.native`, if the request was sent in it. */
  readonly native?: JsonObject | undefined
  /** Undefined if the upstream reported none: the usage is then unknown, not zero. */
  readonly usage: ReportedUsage | undefined
  /** The searches that the answer shows, for an estimate. */
  readonly webSearches?: number
}

export interface ChatStream {
  readonly kind: 'stream'
  /**
   * Calls `take` with the chunks of each read from the network, in their order, as soon as they arrive. Resolves to the
   * first result that `take` returns, after which nothing more is read, or to undefined at the end of the answer. While a
   * promise of `take` is pending, nothing more is read, which slows the upstream down (back-pressure). Rejects with
   * `StreamBroken` if the answer breaks off, or with an error of `take`. Called once.
   */
  each<Result>(take: TakeChunks<Result>): Promise<Result | undefined>
  /** Stops reading and closes the upstream connection. */
  cancel(): void
}

/** Returns undefined to get more. */
export type TakeChunks<Result> = (
  chunks: readonly StreamChunk[],
) => Result | undefined | Promise<Result | undefined>

/** A chat-completions chunk, with its usage if it carries any. */
export interface StreamChunk {
  readonly body: JsonObject
  /**
   * The events of this chunk in the format of `ChatContent.native`, if the request was sent in it; empty if they came
   * with an earlier chunk.
   */
  readonly native?: readonly JsonObject[] | undefined
  readonly usage: ReportedUsage | undefined
  /** The searches that the answer has shown so far, for an estimate. */
  readonly webSearches?: number
  /** The chunk adds this text and nothing else; `body`, the same as a whole chunk, costs more to read. */
  readonly delta?: TextDelta
}

/** An event that equals an earlier one of its stream, which came as a whole chunk, but for its text. */
export interface TextDelta {
  /** The same object for all events that equal each other. */
  readonly like: DeltaShape
  /** Not empty. Counted as it is, whether it is text or arguments of a tool call. */
  readonly text: string
  /** The text as `JSON.stringify` writes it, without the quotation marks. */
  readonly json: string
}

export interface DeltaShape {
  /** The chunk with this text. */
  bodyWith(this: void, text: string): JsonObject
  /** The event with this text, in the format of `ChatContent.native`, if it came in it. */
  nativeWith?(this: void, text: string): JsonObject
}

/** Thrown by `ChatStream.each` if the stream breaks off before its end. */
export class StreamBroken extends Error {
  readonly failure: UpstreamFailure
  /** What the upstream reports with the failure. */
  readonly usage: ReportedUsage | undefined
  constructor(failure: UpstreamFailure, usage?: ReportedUsage) {
    super(failure.detail)
    this.failure = failure
    this.usage = usage
  }
}

export interface EmbeddingCall {
  /** An embeddings request, with the upstream's name for the model in `model`. */
  readonly body: JsonObject
  /** The texts of `input`, or texts as token ids. */
  readonly inputs: readonly (string | readonly number[])[]
  readonly dimensions: number | undefined
  readonly callId: string
  /** As in `ChatCall`. */
  readonly takeBytes?: ChatCall['takeBytes']
}

/**
 * An answer with one vector for each input, in the same order: numbers, or the base64 of little-endian 32-bit floats.
 */
export interface EmbeddingAnswer {
  readonly kind: 'embeddings'
  readonly vectors: readonly (readonly number[] | string)[]
  readonly usage: ReportedUsage | undefined
}

export interface RerankCall {
  /** The upstream's name for the model. */
  readonly model: string
  readonly query: string
  readonly documents: readonly string[]
  readonly documentTokensMax: number | undefined
  readonly callId: string
  /** As in `ChatCall`. */
  readonly takeBytes?: ChatCall['takeBytes']
}

export interface Rank {
  /** Of the document in the request. */
  readonly index: number
  readonly score: number
}

/** The answer has at least one document with its score, none twice, in any order. */
export interface RerankAnswer {
  readonly kind: 'ranks'
  readonly ranks: readonly Rank[]
  readonly usage: ReportedUsage | undefined
}

export interface ModerationCall {
  /** The upstream's name for the model. */
  readonly model: string
  /** As in OpenAI's `input`. */
  readonly input: readonly (string | object)[]
  readonly resultCount: number
  /** Of the answer, which are counted already. */
  readonly bytesReserved: number
  readonly callId: string
  /** As in `ChatCall`. */
  readonly takeBytes?: ChatCall['takeBytes']
}

/** The judgement of one input, with the names of OpenAI's format. */
export interface ModerationResult {
  readonly flagged: boolean
  readonly categories: JsonObject
  readonly category_scores: JsonObject
  readonly category_applied_input_types?: JsonObject
}

/** The answer has as many results as were asked for. */
export interface ModerationAnswer {
  readonly kind: 'moderation'
  readonly results: readonly ModerationResult[]
  readonly usage: ReportedUsage | undefined
}

export interface SpeechCall {
  /** A speech request, with the upstream's name for the model in `model`. */
  readonly body: JsonObject
  /** Asks for the usage, which upstreams report at the end of events only. */
  readonly wantsUsage: boolean
  readonly callId: string
  /** As in `ChatCall`. */
  readonly takeBytes?: ChatCall['takeBytes']
}

export interface SpeechAnswer {
  readonly kind: 'speech'
  /** Not empty. */
  readonly audio: Buffer
  readonly usage: ReportedUsage | undefined
}

/** A file of a form, in memory. */
export interface FormFile {
  readonly field: string
  readonly name: string
  readonly mediaType: string
  readonly bytes: Buffer
}

export interface ImageCall {
  /** An images request, with the upstream's name for the model in `model`. */
  readonly body: JsonObject
  readonly prompt: string
  /** The images to edit, and the mask; for `editImages` alone. */
  readonly files?: readonly FormFile[]
  readonly count: number
  /** `<width>x<height>`; undefined if the model chooses. */
  readonly size: string | undefined
  /**
   * The output tokens per image that the hold covers, including text beside it. Sent to upstreams that accept a limit.
   * Undefined if images are billed per image.
   */
  readonly outputTokensMax: number | undefined
  readonly callId: string
  /** As in `ChatCall`. */
  readonly takeBytes?: ChatCall['takeBytes']
}

/** An answer with images as bytes: an address would reveal the upstream. */
export interface ImageAnswer {
  readonly kind: 'images'
  readonly images: readonly GeneratedImage[]
  readonly usage: ReportedUsage | undefined
}

export interface GeneratedImage {
  readonly base64: string
  /** The prompt as rewritten by the model, if it reports one. */
  readonly revisedPrompt?: string
}

export interface VideoCall {
  /** The upstream's name for the model. */
  readonly model: string
  readonly prompt: string
  readonly seconds: number
  /** `<width>x<height>`. */
  readonly size: string
  readonly callId: string
}

/** The upstream works on the video under this name. */
export interface VideoStarted {
  readonly kind: 'video_started'
  readonly job: string
}

export interface VideoState {
  readonly kind: 'video_state'
  readonly status: 'running' | 'completed' | 'failed'
  /** From 0 to 100. */
  readonly progress?: number
  /** The seconds that the upstream bills, where it says so; they may be anything. */
  readonly seconds?: number
  /** It failed because the rules of the provider refuse the content. */
  readonly isRefused?: boolean
}

/** The file of a video, which is read as fast as its reader takes it. */
export interface VideoContent {
  readonly kind: 'video_content'
  readonly bytes: number | undefined
  /** Rejects if it breaks off. Closes the connection when its reader stops. */
  read(): AsyncIterable<Buffer>
}

/** Videos take minutes: an upstream takes a job, and is asked for its state until it ends. */
export interface VideoJobs {
  start(call: VideoCall, signal: AbortSignal): Promise<VideoStarted | UpstreamFailure>
  /** A failure with the status 404: the upstream has no such job any more. */
  state(job: string, signal: AbortSignal): Promise<VideoState | UpstreamFailure>
  open(job: string, signal: AbortSignal): Promise<VideoContent | UpstreamFailure>
  /** Deletes the file, where the upstream can. */
  remove?(job: string, signal: AbortSignal): Promise<void>
}

/** A customer's file on the local disk. It can be read again for another attempt. */
export interface UploadedFile {
  readonly name: string
  readonly mediaType: string
  readonly bytes: number
  read(): AsyncIterable<Buffer>
}

export interface TranscriptionCall {
  /** The upstream's name for the model. */
  readonly model: string
  readonly file: UploadedFile
  /** The other fields of the form: language, prompt, temperature. A field may occur more than once. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** `segments` asks for segments with timestamps, for subtitles; some models do not support them. */
  readonly detail: 'text' | 'segments'
  /** Asks for the text as it is heard, if the upstream can: of so many tokens, by which the length of its events is limited. */
  readonly stream?: { readonly outputTokensMax: number } | undefined
  readonly callId: string
  /** As in `ChatCall`. */
  readonly takeBytes?: ChatCall['takeBytes']
}

export interface TranscriptionAnswer {
  readonly kind: 'transcription'
  readonly text: string
  readonly language?: string
  readonly durationSeconds?: number
  /** As reported by the upstream, in the published format of verbose transcriptions. */
  readonly segments?: readonly TranscriptionSegment[]
  readonly words?: readonly TranscriptionWord[]
  readonly usage: ReportedUsage | undefined
}

export interface TranscriptionSegment {
  readonly start: number
  readonly end: number
  readonly text: string
}

export interface TranscriptionWord {
  readonly start: number
  readonly end: number
  readonly word: string
}

/**
 * Each method sends one call. It resolves at the end of the answer, or for a stream with the response headers, and never
 * rejects because of the upstream or the network. A method is missing if the upstream does not support that kind of
 * call.
 */
export interface Provider {
  completeChat?(
    call: ChatCall,
    signal: AbortSignal,
  ): Promise<ChatAnswer | ChatStream | UpstreamFailure>
  /**
   * The bytes of the exact body that `completeChat` would send, without the data of images and files. The hold is
   * computed from it, so it must never be below the bytes that are sent with any lower output limit. Undefined if the
   * size cannot be determined; the hold then covers the model's whole context. Present together with `completeChat`.
   */
  measureChat?(content: ChatContent): number | undefined | Promise<number | undefined>
  /**
   * The tokens of this prompt by the upstream's own tokenizer, which costs nothing; undefined if it does not say so in
   * time. Asked only where the balance does not cover the bytes.
   */
  countPrompt?(content: ChatContent): Promise<number | undefined>
  /** Set if the upstream writes a cache only where `cache_control` asks for it. */
  readonly cachesOnRequest?: boolean
  /** Undefined if `completeChat` would send this chat without its searches of the web. */
  searchRounds?(content: ChatContent): SearchRounds | undefined
  embed?(call: EmbeddingCall, signal: AbortSignal): Promise<EmbeddingAnswer | UpstreamFailure>
  rerank?(call: RerankCall, signal: AbortSignal): Promise<RerankAnswer | UpstreamFailure>
  moderate?(call: ModerationCall, signal: AbortSignal): Promise<ModerationAnswer | UpstreamFailure>
  generateImages?(call: ImageCall, signal: AbortSignal): Promise<ImageAnswer | UpstreamFailure>
  /** As `generateImages`, of the images in `files`. */
  editImages?(call: ImageCall, signal: AbortSignal): Promise<ImageAnswer | UpstreamFailure>
  speak?(call: SpeechCall, signal: AbortSignal): Promise<SpeechAnswer | UpstreamFailure>
  /** A stream, only where it is asked for, has its deltas in the shape of a chat's; its last chunk has the whole `text`. */
  transcribe?(
    call: TranscriptionCall,
    signal: AbortSignal,
  ): Promise<TranscriptionAnswer | ChatStream | UpstreamFailure>
  /** As `transcribe`, into English. */
  translate?(
    call: TranscriptionCall,
    signal: AbortSignal,
  ): Promise<TranscriptionAnswer | ChatStream | UpstreamFailure>
  readonly videos?: VideoJobs
  /** Whether closing the connection stops the upstream's billing. */
  readonly cancelStopsBilling: boolean
  close(): Promise<void>
}

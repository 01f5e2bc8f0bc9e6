/**
 * The request fields that cost nothing beyond the tokens of the hold, as each provider documents them. Any
 * other field may have a price (searches, third-party models, more output, a longer prompt), so it must not
 * be sent.
 */
import { isObject } from '../../src/platform/lib/is-object.ts'
import { truthOf } from './model-truth.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/**
 * The fields of the request type in `node_modules/openai`, without those that have a price, and sampling
 * fields.
 */
const OPENAI_CHAT = words(`
  model messages stream stream_options max_tokens max_completion_tokens n temperature top_p stop seed
  frequency_penalty presence_penalty logit_bias logprobs top_logprobs tools tool_choice parallel_tool_calls
  functions function_call response_format reasoning_effort verbosity user safety_identifier prompt_cache_key
  prompt_cache_retention metadata store service_tier modalities reasoning thinking
  top_k min_p top_a repetition_penalty typical_p random_seed min_tokens safe_prompt reasoning_format include_reasoning enable_thinking
`)
const OPENAI_EMBEDDINGS = words('model input dimensions encoding_format user input_type')
const OPENAI_IMAGES = words(`
  model prompt n size quality style user background moderation output_format output_compression response_format
`)

const OPENAI_EDITS = words('image image[] mask input_fidelity')

export const TOP_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  'openai chat': OPENAI_CHAT,
  'openai responses': words(`
    model input instructions max_output_tokens stream store service_tier include reasoning text tools tool_choice
    temperature top_p parallel_tool_calls prompt_cache_key safety_identifier user
  `),
  'openai embeddings': OPENAI_EMBEDDINGS,
  'openai rerank': words('model query documents max_tokens_per_doc'),
  'openai moderations': words('model input'),
  'openai images': OPENAI_IMAGES,
  'openai edits': new Set([...OPENAI_IMAGES, ...OPENAI_EDITS]),
  'openai transcriptions': words(`
    file model language prompt response_format temperature timestamp_granularities timestamp_granularities[]
    chunking_strategy stream
  `),
  'openai translations': words('file model prompt response_format temperature'),
  'openai speech': words('model input voice instructions response_format speed stream_format'),
  'anthropic chat': words(`
    model max_tokens messages system tools tool_choice temperature top_p top_k stop_sequences stream thinking
    output_config output_format metadata context_management cache_control
  `),
  'google chat': words('contents systemInstruction tools toolConfig generationConfig'),
  'google-vertex chat': words('contents systemInstruction tools toolConfig generationConfig'),
  'google images': words('contents systemInstruction generationConfig'),
  'google embeddings': words('model content requests outputDimensionality taskType'),
  'amazon-bedrock chat': words(`
    system messages toolConfig inferenceConfig additionalModelRequestFields additionalModelResponseFieldPaths
  `),
  'amazon-bedrock embeddings': words('inputText dimensions normalize embeddingTypes'),
  'cohere chat': words(`
    model messages tools tool_choice max_tokens temperature p k seed stop_sequences frequency_penalty
    presence_penalty response_format thinking stream documents
  `),
  'cohere embeddings': words(
    'model texts inputs input_type embedding_types output_dimension truncate',
  ),
}

const MESSAGE = words(`
  role content name refusal tool_calls tool_call_id function_call reasoning_content reasoning reasoning_details
  cache_control prefix
`)
const PARTS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: words('type text cache_control'),
  refusal: words('type refusal cache_control'),
  image_url: words('type image_url cache_control'),
  file: words('type file cache_control'),
}

/** The paths of the fields that are not on the lists. */
export function unknownFields(list: string, body: unknown): string[] {
  const top = TOP_FIELDS[list]
  if (!top || !isObject(body)) return [`${list}: no list`]
  const unknown = Object.keys(body).filter((field) => !top.has(field) && body[field] !== undefined)
  if (list === 'openai responses') {
    const isLimited = (field: string): boolean => field === 'max_tool_calls' && hasSearchPrice(body)
    return [...unknown.filter((field) => !isLimited(field)), ...unknownInResponses(body)]
  }
  if (list === 'anthropic chat') return [...unknown, ...unknownInAnthropic(body)]
  return list === 'openai chat' ? [...unknown, ...unknownInMessages(body)] : unknown
}

type Fields = Readonly<Record<string, ReadonlySet<string> | undefined>>

const ITEMS: Fields = {
  message: words('type role content phase'),
  reasoning: words('type summary encrypted_content'),
  function_call: words('type call_id name arguments'),
  function_call_output: words('type call_id output'),
  custom_tool_call: words('type call_id name input'),
  custom_tool_call_output: words('type call_id output'),
  function: words('type name description parameters strict'),
  custom: words('type name description format'),
  input_text: words('type text'),
  output_text: words('type text'),
  summary_text: words('type text'),
  refusal: words('type refusal'),
  input_image: words('type image_url detail'),
  input_file: words('type file_data filename'),
}

function unknownInResponses(body: Record<string, unknown>): string[] {
  const items: Fields = hasSearchPrice(body) ? { ...ITEMS, ...RESPONSES_SEARCH } : ITEMS
  const unknown = new Set<string>()
  const listed = (list: unknown, place: string): void => {
    for (const each of Array.isArray(list) ? (list as unknown[]).filter(isObject) : []) {
      const at = `${place}[type=${String(each.type)}]`
      const fields = items[String(each.type)]
      if (!fields) unknown.add(at)
      for (const field of Object.keys(each)) if (!fields?.has(field)) unknown.add(`${at}.${field}`)
      if (each.detail === 'original') unknown.add(`${at}.detail`)
      for (const field of ['content', 'output', 'summary']) listed(each[field], `${at}.${field}`)
    }
  }
  listed(body.input, 'input')
  listed(body.tools, 'tools')
  const { reasoning, include, store, service_tier: tier } = body
  for (const field of Object.keys(isObject(reasoning) ? reasoning : {}))
    if (field !== 'effort' && field !== 'summary') unknown.add(`reasoning.${field}`)
  for (const each of Array.isArray(include) ? (include as unknown[]) : [])
    if (each !== 'reasoning.encrypted_content') unknown.add(`include ${String(each)}`)
  if (store !== false) unknown.add('store')
  if (tier !== undefined && tier !== 'default') unknown.add('service_tier')
  return [...unknown]
}

const CACHED = 'type cache_control'
/** Anthropic's blocks without a price of their own. */
const BLOCKS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: words(`${CACHED} text`),
  image: words(`${CACHED} source`),
  document: words(`${CACHED} source title context`),
  search_result: words(`${CACHED} source title content`),
  tool_use: words(`${CACHED} id name input`),
  tool_result: words(`${CACHED} tool_use_id content is_error`),
  thinking: words('type thinking signature'),
  redacted_thinking: words('type data'),
}
/** Tools that the client runs; the hold covers what the provider says of them. */
const ANTHROPIC_TOOL_TYPES: ReadonlySet<string> = new Set([
  'undefined',
  'custom',
  'bash_20250124',
  'text_editor_20250728',
])
const ANTHROPIC_TOOL = words(`${CACHED} name description input_schema strict eager_input_streaming`)
const SOURCES = words('base64 text content url')

/** Of the search of the web: only to models with a price for it. */
const SEARCH_BLOCKS: Readonly<Record<string, ReadonlySet<string>>> = {
  ...BLOCKS,
  server_tool_use: words(`${CACHED} id name input`),
  web_search_tool_result: words(`${CACHED} tool_use_id content`),
  web_search_result: words('type url title encrypted_content page_age'),
}
const ANTHROPIC_SEARCH = words(
  `${CACHED} name max_uses allowed_domains blocked_domains user_location`,
)
const RESPONSES_SEARCH = {
  web_search: words('type filters user_location search_context_size external_web_access'),
  web_search_call: words('type status action'),
}

function hasSearchPrice({ model }: Record<string, unknown>): boolean {
  return truthOf(String(model))?.search !== undefined
}

function unknownInAnthropic(body: Record<string, unknown>): string[] {
  const unknown = new Set<string>()
  const searches = hasSearchPrice(body)
  const knownBlocks = searches ? SEARCH_BLOCKS : BLOCKS
  const known = (fields: ReadonlySet<string>, value: unknown, place: string): void => {
    if (!isObject(value)) return
    for (const field of Object.keys(value)) if (!fields.has(field)) unknown.add(`${place}.${field}`)
    const { cache_control: control } = value
    if (isObject(control)) known(words('type ttl'), control, `${place}.cache_control`)
  }
  const blocks = (list: unknown, place: string): void => {
    for (const block of Array.isArray(list) ? (list as unknown[]).filter(isObject) : []) {
      const fields = knownBlocks[String(block.type)]
      const at = `${place}[type=${String(block.type)}]`
      if (!fields) {
        unknown.add(at)
        continue
      }
      known(fields, block, at)
      blocks(block.content, `${at}.content`)
      const { source } = block
      if (!isObject(source)) continue
      if (!SOURCES.has(String(source.type)))
        unknown.add(`${at}.source[type=${String(source.type)}]`)
      known(words('type media_type data content url'), source, `${at}.source`)
      blocks(source.content, `${at}.source.content`)
    }
  }
  blocks(body.system, 'system')
  for (const message of Array.isArray(body.messages) ? (body.messages as unknown[]) : []) {
    known(words('role content'), message, 'messages[]')
    if (isObject(message)) blocks(message.content, 'messages[]')
  }
  for (const tool of Array.isArray(body.tools) ? (body.tools as unknown[]) : []) {
    if (searches && isObject(tool) && tool.type === 'web_search_20250305') {
      known(ANTHROPIC_SEARCH, tool, 'tools[type=web_search]')
      continue
    }
    known(ANTHROPIC_TOOL, tool, 'tools[]')
    if (isObject(tool) && !ANTHROPIC_TOOL_TYPES.has(String(tool.type)))
      unknown.add(`tools[type=${String(tool.type)}]`)
  }
  known(words('type budget_tokens display'), body.thinking, 'thinking')
  known(words('effort format'), body.output_config, 'output_config')
  known(words('user_id'), body.metadata, 'metadata')
  const { edits } = isObject(body.context_management) ? body.context_management : {}
  for (const edit of Array.isArray(edits) ? (edits as unknown[]).filter(isObject) : [])
    if (!String(edit.type).startsWith('clear_')) unknown.add(`edits[type=${String(edit.type)}]`)
  known(words('type ttl'), body.cache_control, 'cache_control')
  return [...unknown]
}

function unknownInMessages({
  messages,
  modalities,
  service_tier,
}: Record<string, unknown>): string[] {
  const unknown = new Set<string>()
  for (const message of Array.isArray(messages) ? (messages as unknown[]) : []) {
    if (!isObject(message)) continue
    for (const field of Object.keys(message))
      if (!MESSAGE.has(field)) unknown.add(`messages[].${field}`)
    for (const part of Array.isArray(message.content) ? (message.content as unknown[]) : []) {
      if (!isObject(part)) continue
      const known = PARTS[String(part.type)]
      if (!known) unknown.add(`messages[].content[type=${String(part.type)}]`)
      else
        for (const field of Object.keys(part))
          if (!known.has(field)) unknown.add(`messages[].content[].${field}`)
      const url = isObject(part.image_url) ? part.image_url.url : undefined
      if (typeof url === 'string' && /^data:(?!image\/)/i.test(url))
        unknown.add('image_url that is no image')
    }
  }
  if (Array.isArray(modalities) && modalities.some((each) => each !== 'text'))
    unknown.add('modalities beside text')
  if (service_tier === 'priority') unknown.add('service_tier priority')
  return [...unknown]
}

/**
 * The fields of a chat that reach upstreams. Fields on neither list are never sent, because an unknown field may be
 * billed at a price that the catalog does not have. The gateway itself writes `model`, the output limit, `stream` and
 * `stream_options`.
 */
const COMMON = [
  'messages',
  'n',
  'stop',
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'seed',
  'user',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'functions',
  'function_call',
  'response_format',
  'reasoning_effort',
  'verbosity',
  'prompt_cache_key',
  'safety_identifier',
]

/** The fields that are sent to OpenAI, which refuses unknown ones. */
export const OPENAI_CHAT_FIELDS: ReadonlySet<string> = new Set(COMMON)

/**
 * The fields that are sent to other upstreams with this format, which also take sampling parameters and switches for
 * reasoning.
 */
export const OPEN_CHAT_FIELDS: ReadonlySet<string> = new Set([
  ...COMMON,
  'top_k',
  'top_a',
  'min_p',
  'typical_p',
  'repetition_penalty',
  'min_tokens',
  'random_seed',
  'safe_prompt',
  'reasoning',
  'reasoning_format',
  'include_reasoning',
  'thinking',
  'enable_thinking',
])

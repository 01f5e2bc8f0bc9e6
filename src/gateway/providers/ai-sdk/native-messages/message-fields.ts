/**
 * The fields of a Messages request that reach upstreams that speak this format. A field on no list is left out, because
 * it may be billed at a price that the catalog does not have: hosted tools other than the search of the web, containers,
 * `service_tier`, `speed`, `inference_geo`, citations of documents. The gateway itself writes `model`, `max_tokens` and `stream`.
 */
import type { AiSdkOptions } from '../ai-sdk-options.ts'

export const ANTHROPIC_ADDRESS = 'https://api.anthropic.com/v1'
export const ANTHROPIC_VERSION = '2023-06-01'

const set = (...names: string[]): ReadonlySet<string> => new Set(names)

/** The flag for `context_management`: without it, the field is left out. */
export const CONTEXT_MANAGEMENT = 'context-management-2025-06-27'
/** The flag for `thinking.display: "updates"`; other displays need none. */
export const DISPLAY_UPDATES = 'thinking-display-updates-2026-08-18'
/** The flag for `defer_loading` of a tool, and for references to one. */
export const DEFERRED_TOOLS = 'advanced-tool-use-2025-11-20'
/** The flag for `tool_addition` and `tool_removal` in a message of the role `system`. */
export const TOOL_CHANGES = 'mid-conversation-tool-changes-2026-07-01'
/** The flags for `output_config` of a message of the role `system`. */
export const EFFORT_OF_TURN = [
  'per-turn-control-2026-07-01',
  'mid-conversation-output-config-2026-07-01',
] as const
/** The flag for `clear_at` of a message of the role `system`. */
export const CLEAR_AT = 'mid-conversation-system-clear-at-2026-08-21'

const COMPUTER_FIELDS = set(
  'type',
  'name',
  'display_width_px',
  'display_height_px',
  'display_number',
  'enable_zoom',
)

/** The fields that are sent as they come. */
export const PLAIN_FIELDS = ['temperature', 'top_p', 'top_k', 'stop_sequences'] as const

export const TEXT_FIELDS = set('type', 'text')

/** The fields of each type of block, by the role of the message. `cache_control` is read separately. */
export const BLOCK_FIELDS: Readonly<Record<string, ReadonlyMap<string, ReadonlySet<string>>>> = {
  user: new Map([
    ['text', TEXT_FIELDS],
    ['image', set('type', 'source')],
    ['document', set('type', 'source', 'title', 'context')],
    ['search_result', set('type', 'source', 'title', 'content')],
    ['tool_result', set('type', 'tool_use_id', 'content', 'is_error')],
    ['tool_reference', set('type', 'tool_name')],
  ]),
  assistant: new Map([
    ['text', TEXT_FIELDS],
    ['tool_use', set('type', 'id', 'name', 'input')],
    ['thinking', set('type', 'thinking', 'signature')],
    ['redacted_thinking', set('type', 'data')],
  ]),
  system: new Map([
    ['text', TEXT_FIELDS],
    ['tool_addition', set('type', 'tool')],
    ['tool_removal', set('type', 'tool')],
  ]),
}

/** The blocks of the assistant that are sent where the search of the web itself is sent. */
export const SEARCH_BLOCK_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...(BLOCK_FIELDS.assistant as ReadonlyMap<string, ReadonlySet<string>>),
  ['server_tool_use', set('type', 'id', 'name', 'input')],
  ['web_search_tool_result', set('type', 'tool_use_id', 'content')],
])
export const SEARCH_RESULT_FIELDS = set(
  'type',
  'url',
  'title',
  'encrypted_content',
  'page_age',
  'error_code',
)
/** The oldest version: newer ones run code beside the search. */
export const SEARCH_TOOL = { type: 'web_search_20250305', name: 'web_search' } as const
export const SEARCH_TOOL_FIELDS = set('allowed_domains', 'blocked_domains', 'user_location')

/** The blocks that may be inside a block, by its type. */
export const INNER_BLOCKS: Readonly<Record<string, ReadonlySet<string>>> = {
  tool_result: set('text', 'image', 'document', 'search_result', 'tool_reference'),
  search_result: set('text'),
  document: set('text', 'image'),
}

export const SOURCE_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['base64', set('type', 'media_type', 'data')],
  ['text', set('type', 'media_type', 'data')],
  ['content', set('type', 'content')],
  ['url', set('type', 'url')],
])

/** The sources that a block may have; that of a search result is a text. */
export const SOURCES: Readonly<Record<string, ReadonlySet<string>>> = {
  image: set('base64', 'url'),
  document: set('base64', 'text', 'content'),
}

export const TOOL_FIELDS = set(
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'eager_input_streaming',
)
/** The tools of the client that the provider describes, at the versions that today's models know, some with a flag. */
export const CLIENT_TOOLS: ReadonlyMap<
  string,
  { readonly fields: ReadonlySet<string>; readonly flag?: string }
> = new Map([
  ['bash_20250124', { fields: set('type', 'name') }],
  ['text_editor_20250728', { fields: set('type', 'name', 'max_characters') }],
  ['memory_20250818', { fields: set('type', 'name'), flag: CONTEXT_MANAGEMENT }],
  ['computer_20250124', { fields: COMPUTER_FIELDS, flag: 'computer-use-2025-01-24' }],
  ['computer_20251124', { fields: COMPUTER_FIELDS, flag: 'computer-use-2025-11-24' }],
])
export const TOOL_CHOICE_FIELDS = set('type', 'name', 'disable_parallel_tool_use')
export const THINKING_FIELDS = set('type', 'budget_tokens', 'display')

/** The edits that only take parts of the prompt away. A compaction is another answer of the model, and is billed. */
export const EDIT_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    'clear_tool_uses_20250919',
    set('type', 'trigger', 'keep', 'clear_at_least', 'exclude_tools', 'clear_tool_inputs'),
  ],
  ['clear_thinking_20251015', set('type', 'keep')],
])

/**
 * The models that take messages of the role `system` after a turn of the user, for which the format needs no flag: from
 * Opus 4.8 on. https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
export const TAKES_SYSTEM = /claude-(?:opus-4-8|[a-z]+-(?:[5-9]|\d\d)(?!\d))/

/** What all upstreams of the format know. */
const COMMON_FLAGS = ['interleaved-thinking-2025-05-14', 'fine-grained-tool-streaming-2025-05-14']

/** The flags that add no cost. Every other flag is left out, together with its fields. */
export const FLAGS: Readonly<Partial<Record<AiSdkOptions['kind'], ReadonlySet<string>>>> = {
  anthropic: set(
    ...COMMON_FLAGS,
    CONTEXT_MANAGEMENT,
    DISPLAY_UPDATES,
    DEFERRED_TOOLS,
    TOOL_CHANGES,
    ...EFFORT_OF_TURN,
    CLEAR_AT,
    'mid-conversation-system-2026-04-07',
    'computer-use-2025-01-24',
    'computer-use-2025-11-24',
    'token-efficient-tools-2025-02-19',
    'output-128k-2025-02-19',
    'structured-outputs-2025-11-13',
    'effort-2025-11-24',
    'extended-cache-ttl-2025-04-11',
    'prompt-caching-2024-07-31',
  ),
  'google-vertex': set(...COMMON_FLAGS),
}

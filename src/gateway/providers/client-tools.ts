/**
 * Tools of the Messages format that the client runs and the provider describes: by their documented inputs they are
 * functions for every upstream that does not know them. https://platform.claude.com/docs/en/agents-and-tools/tool-use
 */
import type { JsonObject } from './contract.ts'

export interface DescribedTool {
  readonly description: string
  readonly parameters: JsonObject
}

const TEXT = { type: 'string' }
const NUMBER = { type: 'integer' }
const PAIR = { type: 'array', items: NUMBER, minItems: 2, maxItems: 2 }
const oneOf = (...values: string[]): JsonObject => ({ type: 'string', enum: values })

export function describeInput(
  description: string,
  properties: JsonObject,
  ...required: string[]
): DescribedTool {
  return { description, parameters: { type: 'object', properties, required } }
}

const EDITING = {
  path: TEXT,
  view_range: PAIR,
  file_text: TEXT,
  old_str: TEXT,
  new_str: TEXT,
  insert_line: NUMBER,
  insert_text: TEXT,
}
const ACTIONS =
  'key hold_key type cursor_position mouse_move left_mouse_down left_mouse_up left_click left_click_drag right_click ' +
  'middle_click double_click triple_click scroll wait screenshot zoom'

/** By the beginning of the type, which ends with a date. */
const FAMILIES: readonly (readonly [RegExp, DescribedTool])[] = [
  [
    /^bash_\d{8}$/,
    describeInput('Runs a command in a shell that keeps its state. `restart` begins a new one.', {
      command: TEXT,
      restart: { type: 'boolean' },
    }),
  ],
  [
    /^text_editor_\d{8}$/,
    describeInput(
      'Views, creates and edits text files. `insert` puts the text after the line.',
      { command: oneOf('view', 'create', 'str_replace', 'insert', 'undo_edit'), ...EDITING },
      'command',
      'path',
    ),
  ],
  [
    /^memory_\d{8}$/,
    describeInput(
      'Keeps notes between conversations as files under /memories. View that directory before you begin.',
      {
        command: oneOf('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
        ...EDITING,
        old_path: TEXT,
        new_path: TEXT,
      },
      'command',
    ),
  ],
  [
    /^computer_\d{8}$/,
    describeInput(
      'Uses the mouse, the keyboard and the screen of a computer. Coordinates are pixels from the top left.',
      {
        action: oneOf(...ACTIONS.split(' ')),
        coordinate: PAIR,
        start_coordinate: PAIR,
        region: { ...PAIR, minItems: 4, maxItems: 4 },
        text: TEXT,
        scroll_direction: oneOf('up', 'down', 'left', 'right'),
        scroll_amount: NUMBER,
        duration: { type: 'number' },
      },
      'action',
    ),
  ],
]

/**
 * Returns the description of a tool that the client runs; undefined for a tool that the client describes itself, or
 * that it does not run.
 */
export function describeClientTool(tool: JsonObject): DescribedTool | undefined {
  const { type, display_width_px: width, display_height_px: height } = tool
  const found = FAMILIES.find(([family]) => typeof type === 'string' && family.test(type))?.[1]
  if (!found || typeof width !== 'number' || typeof height !== 'number') return found
  return { ...found, description: `${found.description} The screen has ${width}x${height}.` }
}

/** Returns the least schema that providers take: the parameters of a function are the properties of an object. */
export function toToolSchema(schema: JsonObject): JsonObject {
  const isObjects = schema.type === undefined || schema.type === 'object'
  if (!isObjects || (schema.type === 'object' && schema.properties !== undefined)) return schema
  return { ...schema, type: 'object', properties: schema.properties ?? {} }
}

/** Whether a tool is the search of the web that a provider runs, in any version of the Responses or Messages format. */
export function isWebSearchTool({ type }: JsonObject): boolean {
  return typeof type === 'string' && /^web_search(_|$)/.test(type)
}

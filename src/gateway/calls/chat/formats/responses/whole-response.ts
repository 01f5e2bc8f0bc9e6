import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { Charged } from '../../chat-format.ts'
import { readFinish } from './finish.ts'
import { writeResponse, type ResponseHead } from './response-head.ts'
import { createResponseOutput, type OutputOptions } from './response-output.ts'

/** The JSON of a whole response, from an answer in the chat-completions shape. */
export function wholeResponse(
  head: ResponseHead,
  options: OutputOptions,
  body: JsonObject,
  charged: Charged,
): string {
  const choice = Array.isArray(body.choices) ? (body.choices[0] as unknown) : undefined
  const { message, finish_reason: reason } = isObject(choice) ? choice : {}
  const output = createResponseOutput(options, () => {})
  const finish = readFinish(reason)
  if (isObject(message)) output.add(message)
  output.end(finish.status === 'completed')
  return writeResponse(head, { ...finish, output: output.items, charged })
}

import type { ChatContent } from './contract.ts'

/** Frees the bodies of a request that is being answered: a long stream would keep them. Another route writes its own. */
export function forgetWritten(memo: ChatContent['memo']): void {
  memo.written = undefined
  memo.writtenNatively = undefined
}

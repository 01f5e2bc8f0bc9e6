import { useQueryClient, type QueryKey, type UseMutationResult } from '@tanstack/react-query'
import { useToast } from '../../components/Toast.tsx'
import type { Once } from '../../lib/submit-gate.ts'
import { useSubmit } from '../../lib/use-submit.ts'

/** The prefix of queries about customers and money: any act may change them. */
export const BOOKS = ['admin', 'books'] as const
/** The prefix of queries about the service itself. */
export const SERVICE = ['admin', 'service'] as const

interface Act<Input, Result> {
  readonly act: (input: Input, once: Once) => Promise<Result>
  /** The sentence that confirms the act. */
  readonly doneText: (result: Result) => string
  readonly onDone: () => void
  /** The queries to invalidate; `BOOKS` by default. */
  readonly changes?: readonly QueryKey[]
}

/** An operator's act: confirms it in a toast and refetches the changed data, also after a refusal. */
export function useAct<Input = void, Result = unknown>({
  act,
  doneText,
  onDone,
  changes = [BOOKS],
}: Act<Input, Result>): UseMutationResult<Result, Error, Input> {
  const queries = useQueryClient()
  const toast = useToast()
  return useSubmit({
    mutationFn: act,
    onSuccess(result) {
      toast(doneText(result))
      onDone()
    },
    onSettled: () =>
      Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  })
}

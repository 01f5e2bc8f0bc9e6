import {
  useMutation,
  useQueryClient,
  type QueryKey,
  type UseMutationResult,
} from '@tanstack/react-query'
import { useToast } from '../../components/Toast.tsx'

/** All that operators read of customers and of money: an act may change any of it. */
export const BOOKS = ['admin', 'books'] as const
/** All that they read of the service itself. */
export const SERVICE = ['admin', 'service'] as const

interface Act<Input, Result> {
  readonly act: (input: Input) => Promise<Result>
  /** What was done, in a sentence. */
  readonly told: (result: Result) => string
  readonly onDone: () => void
  /** What is read again; the books if not given. */
  readonly changes?: readonly QueryKey[]
}

/** An act of an operator: says that it was done, and reads again what it changed, also where it was refused. */
export function useAct<Input = void, Result = unknown>({
  act,
  told,
  onDone,
  changes = [BOOKS],
}: Act<Input, Result>): UseMutationResult<Result, Error, Input> {
  const queries = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: act,
    onSuccess(result) {
      toast(told(result))
      onDone()
    },
    onSettled: () =>
      Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  })
}

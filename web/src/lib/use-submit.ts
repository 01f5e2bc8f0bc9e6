/**
 * The only way in which the dashboard sends a change: a mutation that further clicks cannot start while it runs, even
 * before its button is drawn as busy. `once` goes to each call of the API that asks for it.
 */
import { useMutation, type UseMutationOptions, type UseMutationResult } from '@tanstack/react-query'
import { useState } from 'react'
import { createSubmitGate, type Once, type SubmitGate } from './submit-gate.ts'

interface SubmitOptions<Result, Input, Context> extends Omit<
  UseMutationOptions<Result, Error, Input, Context>,
  'mutationFn'
> {
  readonly mutationFn: (input: Input, once: Once) => Promise<Result>
}

export function useSubmit<Result = unknown, Input = void, Context = unknown>({
  mutationFn,
  ...options
}: SubmitOptions<Result, Input, Context>): UseMutationResult<Result, Error, Input, Context> {
  const gate = useSubmitGate()
  const mutation = useMutation<Result, Error, Input, Context>({
    ...options,
    async mutationFn(input) {
      try {
        const result = await mutationFn(input, gate)
        gate.succeed()
        return result
      } catch (error) {
        gate.fail(error)
        throw error
      }
    },
  })
  return {
    ...mutation,
    mutate(...given) {
      if (gate.begin()) mutation.mutate(...given)
    },
    async mutateAsync(...given) {
      if (!gate.begin()) throw new Error('the earlier submit still runs')
      return mutation.mutateAsync(...given)
    },
  }
}

/** For a form whose values must not stay in the state of a mutation, such as a card's number. */
export function useSubmitGate(): SubmitGate {
  const [gate] = useState(() => createSubmitGate())
  return gate
}

import { useState, type ReactNode } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { ProofDialog } from './ProofDialog.tsx'
import type { Security } from './security-queries.ts'

/** Runs an act. If the server demands proof of identity first, asks the user for it and runs the act again. */
export type WithProof = <Result>(act: () => Promise<Result>) => Promise<Result>

interface Waiting {
  readonly goOn: () => void
  readonly giveUp: () => void
}

export function useProof(security: Security | undefined): {
  withProof: WithProof
  dialog: ReactNode
} {
  const [waiting, setWaiting] = useState<Waiting>()

  async function withProof<Result>(act: () => Promise<Result>): Promise<Result> {
    try {
      return await act()
    } catch (error) {
      // The routes of the sign-in write their codes in capitals, the others do not.
      if (!(error instanceof ApiError) || error.code.toUpperCase() !== 'PROOF_NEEDED') throw error
    }
    await new Promise<void>((goOn, refuse) =>
      setWaiting({ goOn, giveUp: () => refuse(new ApiError(0, 'proof_cancelled')) }),
    )
    return act()
  }

  const dialog = security && (
    <ProofDialog
      security={security}
      isOpen={waiting !== undefined}
      onProved={() => {
        waiting?.goOn()
        setWaiting(undefined)
      }}
      onClose={() => {
        waiting?.giveUp()
        setWaiting(undefined)
      }}
    />
  )
  return { withProof, dialog }
}

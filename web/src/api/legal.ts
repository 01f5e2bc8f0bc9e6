/** The operator's company, and the version of the terms of use and the privacy policy in force. */
import { queryOptions } from '@tanstack/react-query'
import { authGet, ownAuthPost } from './auth-call.ts'

export interface Legal {
  readonly version: string
  readonly company: {
    readonly name: string
    readonly cnpj: string
    readonly address: string
    readonly contactEmail: string
  }
}

export const legalQuery = queryOptions({
  queryKey: ['legal'],
  queryFn: () => authGet<Legal>('/legal'),
  staleTime: Infinity,
})

export function acceptTerms(version: string): Promise<unknown> {
  return ownAuthPost('/legal/accept', { version })
}

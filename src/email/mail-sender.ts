import type { MailAddress } from './mail-address.ts'

/** Who the mails are from: the operator, who must say so (Decreto 7.962/2013, art. 2). */
export interface MailSender {
  readonly from: MailAddress
  readonly company: {
    readonly name: string
    /** Without punctuation. */
    readonly cnpj: string
    readonly address: string
    readonly contactEmail: string
  }
  /** Where customers reach the service, without a path; undefined: mails name no address. */
  readonly publicUrl: string | undefined
  /** Every mail says that it is one of the sandbox. */
  readonly isSandbox: boolean
}

/** Fictitious, and labelled so. The CNPJ is all zeros, which nobody has. */
export const SANDBOX_SENDER: MailSender = {
  from: { name: 'Catraca (sandbox)', address: 'sandbox@catraca.example' },
  company: {
    name: 'Empresa Fictícia do Sandbox',
    cnpj: '00000000000000',
    address: 'Endereço fictício, sem número, Brasília, DF',
    contactEmail: 'contato@catraca.example',
  },
  publicUrl: undefined,
  isSandbox: true,
}

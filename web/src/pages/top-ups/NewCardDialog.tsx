import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Lock } from 'lucide-react'
import { useState, type ReactNode, type SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { sessionQuery } from '../../api/session.ts'
import { Button } from '../../components/Button.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { Field } from '../../components/Field.tsx'
import { MaskedInput } from '../../components/MaskedInput.tsx'
import { Input } from '../../components/Input.tsx'
import { Notice } from '../../components/Notice.tsx'
import { useToast } from '../../components/Toast.tsx'
import {
  maskCardNumber,
  maskExpiry,
  maskPhone,
  maskPostalCode,
  maskTaxId,
} from '../../format/masks.ts'
import { formText } from '../../lib/form-text.ts'
import { profileQuery } from '../profile/profile-queries.ts'
import { explainCardError } from './explain-top-up-error.ts'
import { paymentMethodsQuery } from './top-up-queries.ts'

interface Props {
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function NewCardDialog({ isOpen, onClose }: Props) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Novo cartão"
      description="O número e o código de segurança seguem para o processador de pagamentos. A Catraca não os guarda."
    >
      <NewCardForm onClose={onClose} />
    </Dialog>
  )
}

/**
 * The fields belong to the browser, not to the state of the page: what is typed is read when it is sent, and
 * number and security code are emptied when the request ends. No mutation either: its cache keeps variables.
 */
function NewCardForm({ onClose }: Pick<Props, 'onClose'>) {
  const queries = useQueryClient()
  const toast = useToast()
  const [isBusy, setIsBusy] = useState(false)
  const [error, setError] = useState<string>()
  const { data: profile } = useQuery(profileQuery)
  const { data: session } = useQuery(sessionQuery)

  const submit = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const form = event.currentTarget
    setIsBusy(true)
    setError(undefined)
    try {
      await api.post('/payment-methods', cardOf(form))
      await queries.invalidateQueries({ queryKey: paymentMethodsQuery.queryKey })
      toast('Cartão salvo.')
      onClose()
    } catch (error) {
      setError(explainCardError(error))
    } finally {
      // The number is to be typed again: the field of it takes the focus, and the error stands above it.
      forget(form)
      setIsBusy(false)
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)} className="grid gap-5">
      {error && (
        <Notice tone="danger" role="alert">
          {error}
        </Notice>
      )}
      <Group legend="Cartão">
        <Field label="Número do cartão" className="sm:col-span-2">
          {(control) => (
            <MaskedInput
              {...control}
              mask={maskCardNumber}
              name="number"
              inputMode="numeric"
              autoComplete="cc-number"
              minLength={13}
              required
            />
          )}
        </Field>
        <Field label="Nome como está no cartão" className="sm:col-span-2">
          {(control) => (
            <Input
              {...control}
              name="holder_name"
              autoComplete="cc-name"
              maxLength={100}
              required
            />
          )}
        </Field>
        <Field label="Validade" hint="MM/AA">
          {(control) => (
            <MaskedInput
              {...control}
              mask={maskExpiry}
              name="expiry"
              inputMode="numeric"
              autoComplete="cc-exp"
              pattern="\d{2}/\d{2}"
              title="Mês e ano, como 08/30"
              required
            />
          )}
        </Field>
        <Field label="Código de segurança" hint="3 ou 4 dígitos">
          {(control) => (
            <Input
              {...control}
              name="ccv"
              inputMode="numeric"
              autoComplete="cc-csc"
              pattern="\d{3,4}"
              maxLength={4}
              title="3 ou 4 dígitos"
              required
            />
          )}
        </Field>
      </Group>
      {/* The profile may come after the form is there: its values are taken once. */}
      <Group key={profile === undefined ? 'loading' : 'ready'} legend="Titular">
        <Field label="Nome completo" className="sm:col-span-2">
          {(control) => (
            <Input
              {...control}
              name="name"
              autoComplete="name"
              maxLength={200}
              defaultValue={profile?.full_name}
              required
            />
          )}
        </Field>
        <Field label="CPF ou CNPJ">
          {(control) => (
            <MaskedInput
              {...control}
              mask={maskTaxId}
              name="cpf_cnpj"
              autoComplete="off"
              defaultValue={profile?.cpf_cnpj}
              required
            />
          )}
        </Field>
        <Field label="Telefone">
          {(control) => (
            <MaskedInput
              {...control}
              mask={maskPhone}
              name="phone"
              type="tel"
              autoComplete="tel"
              defaultValue={profile?.phone ?? ''}
              required
            />
          )}
        </Field>
        <Field label="E-mail" className="sm:col-span-2">
          {(control) => (
            <Input
              {...control}
              name="email"
              type="email"
              autoComplete="email"
              maxLength={254}
              defaultValue={session?.customer.email ?? ''}
              required
            />
          )}
        </Field>
        <Field label="CEP">
          {(control) => (
            <MaskedInput
              {...control}
              mask={maskPostalCode}
              name="postal_code"
              inputMode="numeric"
              autoComplete="postal-code"
              defaultValue={profile?.postal_code ?? ''}
              required
            />
          )}
        </Field>
        <Field label="Número do endereço">
          {(control) => (
            <Input
              {...control}
              name="address_number"
              maxLength={20}
              defaultValue={profile?.street_number ?? ''}
              required
            />
          )}
        </Field>
      </Group>
      <div className="flex flex-wrap justify-end gap-3">
        <Button variant="secondary" onClick={onClose}>
          Cancelar
        </Button>
        <Button type="submit" variant="primary" isBusy={isBusy}>
          <Lock aria-hidden="true" className="size-4" />
          Salvar cartão
        </Button>
      </div>
    </form>
  )
}

function Group({ legend, children }: { readonly legend: string; readonly children: ReactNode }) {
  return (
    <fieldset>
      <legend className="mb-3 text-sm font-semibold">{legend}</legend>
      <div className="grid gap-4 sm:grid-cols-2">{children}</div>
    </fieldset>
  )
}

function cardOf(form: HTMLFormElement) {
  const fields = new FormData(form)
  const text = (name: string): string => formText(fields, name)
  const [month = '', year = ''] = text('expiry').split('/')
  return {
    card: {
      holder_name: text('holder_name'),
      number: text('number'),
      expiry_month: month,
      expiry_year: `20${year}`,
      ccv: text('ccv'),
    },
    holder: {
      name: text('name'),
      email: text('email'),
      cpf_cnpj: text('cpf_cnpj'),
      postal_code: text('postal_code'),
      address_number: text('address_number'),
      phone: text('phone'),
    },
  }
}

function forget(form: HTMLFormElement): void {
  for (const name of ['number', 'ccv']) {
    const field = form.elements.namedItem(name)
    if (!(field instanceof HTMLInputElement)) continue
    field.value = ''
    if (name === 'number') field.focus()
  }
}

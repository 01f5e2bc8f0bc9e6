import { useInfiniteQuery } from '@tanstack/react-query'
import { Search, Users } from 'lucide-react'
import { useState, type SubmitEvent } from 'react'
import { Badge } from '../../../components/Badge.tsx'
import { Button } from '../../../components/Button.tsx'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { Field } from '../../../components/Field.tsx'
import { Input } from '../../../components/Input.tsx'
import { LoadMore } from '../../../components/LoadMore.tsx'
import { Money } from '../../../components/Money.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { useFilters } from '../../../lib/use-filters.ts'
import { PersonLink } from '../PersonLink.tsx'
import { customersQuery, type ListedCustomer } from './customer-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

/** The API's minimum length of a search. */
const CHARS_MIN = 3

/** Whoever searches by words sees them in the row. */
const FOUND_BY = perLanguage((): Readonly<Record<ListedCustomer['found_by'][number], string>> => ({
  words: '',
  id: t('pelo id'),
  tax_id: t('pelo CPF ou CNPJ'),
  key: t('por uma chave'),
  topup: t('por uma recarga'),
  payment: t('por um pagamento'),
  refund: t('por um reembolso'),
  call: t('por uma chamada'),
}))

const COLUMNS = perLanguage((): readonly Column<ListedCustomer>[] => [
  { key: 'who', header: t('Cliente'), cell: (customer) => <Who customer={customer} /> },
  {
    key: 'used',
    header: t('Último uso'),
    isSecondary: true,
    cell: ({ last_used_at: at }) =>
      at === null ? (
        <span className="text-muted">{t('nunca usou')}</span>
      ) : (
        <DateTime instant={at} />
      ),
  },
  {
    key: 'created',
    header: t('Cliente desde'),
    isSecondary: true,
    cell: ({ created_at: at }) => <DateTime instant={at} isDateOnly />,
  },
  {
    key: 'balance',
    header: t('Saldo'),
    isNumeric: true,
    cell: ({ balance_brl: balance }) => (
      <Money amount={balance} className={balance < 0 ? 'font-medium text-danger' : ''} />
    ),
  },
])

export function CustomersPage() {
  const [{ q }, setFilters] = useFilters('q')
  return (
    <>
      <PageTitle
        title={t('Clientes')}
        description={t('Toda busca e toda ficha aberta fica na auditoria.')}
      />
      <SearchForm key={q} q={q} onSearch={(next) => setFilters({ q: next })} />
      <Card>
        <Found q={q} onClear={() => setFilters({ q: '' })} />
      </Card>
    </>
  )
}

/** Searches on Enter or by the button, because the audit log records each search. */
function SearchForm({ q, onSearch }: { q: string; onSearch: (q: string) => void }) {
  const [text, setText] = useState(q)
  const [fault, setFault] = useState<string>()
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const wanted = text.trim()
    if (wanted !== '' && wanted.length < CHARS_MIN)
      setFault(t('Digite ao menos 3 letras ou números.'))
    else {
      setFault(undefined)
      onSearch(wanted)
    }
  }
  return (
    <form role="search" onSubmit={submit} noValidate className="mb-5 flex items-start gap-3">
      <Field
        label={t('Buscar pelo que se sabe do cliente')}
        hint={t(
          'Parte do nome ou do e-mail, CPF ou CNPJ, o fim de uma chave, ou o id de uma chamada, recarga, pagamento ou reembolso.',
        )}
        error={fault}
        className="max-w-xl flex-1"
      >
        {(control) => (
          <Input
            {...control}
            type="search"
            value={text}
            maxLength={200}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <Button
        type="submit"
        className="mt-6.5"
        icon={<Search aria-hidden="true" className="size-4" />}
      >
        {t('Buscar')}
      </Button>
    </form>
  )
}

function Found({ q, onClear }: { readonly q: string; readonly onClear: () => void }) {
  const found = useInfiniteQuery(customersQuery(q))
  if (found.isPending) return <SkeletonRows rows={8} label={t('Carregando os clientes')} />
  if (found.isError && !found.data)
    return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const customers = found.data.pages.flatMap((page) => page.customers)
  if (customers.length === 0)
    return (
      <EmptyState
        icon={<Users className="size-6" />}
        title={t('Ninguém encontrado')}
        action={
          <Button variant="secondary" onClick={onClear}>
            {t('Ver todos')}
          </Button>
        }
      >
        {t(
          'Nada disso é de um cliente. Confira se não falta ou sobra algo. Uma chamada recusada não tem registro próprio: busque por quem a fez.',
        )}
      </EmptyState>
    )
  return (
    <div className="grid gap-4">
      <Table caption={t('Clientes')} columns={COLUMNS()} rows={customers} rowKey={({ id }) => id} />
      <LoadMore query={found} />
    </div>
  )
}

function Who({ customer }: { readonly customer: ListedCustomer }) {
  const { id, name, email, deleted_at, found_by } = customer
  const ways = found_by.map((way) => FOUND_BY()[way]).filter(Boolean)
  return (
    <div className="min-w-0">
      <span className="flex flex-wrap items-center gap-2">
        <PersonLink id={id} name={name} />
        {deleted_at !== null && <Badge>{t('conta excluída')}</Badge>}
        {ways.map((way) => (
          <Badge key={way}>{way}</Badge>
        ))}
      </span>
      <span className="block text-xs break-all text-muted">{email ?? t('sem e-mail')}</span>
    </div>
  )
}

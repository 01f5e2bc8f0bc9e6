import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { useState, type SubmitEvent } from 'react'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { Field } from '../../../components/Field.tsx'
import { FormEnd } from '../../../components/FormEnd.tsx'
import { ListCard } from '../../../components/ListCard.tsx'
import { TextArea } from '../../../components/TextArea.tsx'
import { t } from '../../../language/t.ts'
import { cursorPages } from '../../../lib/cursor-pages.ts'
import { BOOKS, useAct } from '../use-act.ts'

const NOTE_MAX = 2_000

function notesQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: [...BOOKS, 'notes', id],
    queryFn: ({ pageParam, signal }) =>
      api.get('/admin/customers/{id}/notes', {
        path: { id },
        query: pageParam === undefined ? {} : { cursor: pageParam },
        signal,
      }),
    ...cursorPages,
  })
}

/** What operators wrote about the customer for each other. */
export function CustomerNotes({ customerId }: { readonly customerId: string }) {
  const found = useInfiniteQuery(notesQuery(customerId))
  return (
    <ListCard
      title={t('Anotações')}
      description={t('Entre operadores. O cliente as lê só na cópia dos dados dele (LGPD).')}
      actions={<NoteForm customerId={customerId} />}
      query={found}
      entries={found.data?.pages.flatMap((page) => page.notes)}
      loadingText={t('Carregando as anotações')}
      empty={<EmptyState title={t('Nenhuma anotação')} />}
    >
      {(each) => (
        <li key={each.id} className="py-3">
          <p className="whitespace-pre-wrap break-words">{each.note}</p>
          <p className="text-xs text-muted">
            {each.written_by_name ?? t('Um operador')} · <DateTime instant={each.created_at} />
          </p>
        </li>
      )}
    </ListCard>
  )
}

function NoteForm({ customerId }: { readonly customerId: string }) {
  const [note, setNote] = useState('')
  const [fault, setFault] = useState<string>()
  const write = useAct({
    act: (_input, once) =>
      api.post(
        '/admin/customers/{id}/notes',
        { note: note.trim() },
        { path: { id: customerId }, once },
      ),
    doneText: () => t('Anotação guardada.'),
    onDone: () => setNote(''),
    changes: [[...BOOKS, 'notes', customerId]],
  })
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const isMissing = note.trim() === ''
    setFault(isMissing ? t('Escreva a anotação.') : undefined)
    if (!isMissing) write.mutate()
  }
  return (
    <form onSubmit={submit} noValidate className="grid w-full gap-3">
      <Field label={t('Nova anotação')} error={fault}>
        {(control) => (
          <TextArea
            {...control}
            rows={2}
            value={note}
            maxLength={NOTE_MAX}
            onChange={(event) => setNote(event.target.value)}
          />
        )}
      </Field>
      <FormEnd
        error={write.error ? explainError(write.error) : undefined}
        submitLabel={t('Anotar')}
        isBusy={write.isPending}
      />
    </form>
  )
}

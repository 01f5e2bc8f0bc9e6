import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState, type SubmitEvent } from 'react'
import { api, type Answer } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { Button } from '../../../components/Button.tsx'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
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

type Note = Answer<'get', '/admin/customers/{id}/notes'>['notes'][number]

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
  const [wrong, setWrong] = useState<Note>()
  return (
    <>
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
          <li key={each.id} className="flex items-start justify-between gap-2 py-3">
            <div className="min-w-0">
              <p id={each.id} className="whitespace-pre-wrap break-words">
                {each.note}
              </p>
              <p className="text-xs text-muted">
                {each.written_by_name ?? t('Um operador')} · <DateTime instant={each.created_at} />
              </p>
            </div>
            <Button
              variant="quiet"
              aria-label={t('Excluir anotação')}
              aria-describedby={each.id}
              title={t('Excluir anotação')}
              icon={<Trash2 aria-hidden="true" className="size-4" />}
              onClick={() => setWrong(each)}
            />
          </li>
        )}
      </ListCard>
      <DeleteNote customerId={customerId} note={wrong} onClose={() => setWrong(undefined)} />
    </>
  )
}

interface DeleteNoteProps {
  readonly customerId: string
  /** Undefined: the dialog is closed. */
  readonly note: Note | undefined
  readonly onClose: () => void
}

function DeleteNote({ customerId, note, onClose }: DeleteNoteProps) {
  const remove = useAct({
    act: (noteId: string) =>
      api.delete('/admin/customers/{id}/notes/{noteId}', { path: { id: customerId, noteId } }),
    doneText: () => t('Anotação excluída.'),
    onDone: onClose,
    changes: [[...BOOKS, 'notes', customerId]],
  })
  return (
    <ConfirmDialog
      isOpen={note !== undefined}
      onClose={() => {
        remove.reset()
        onClose()
      }}
      onConfirm={() => note && remove.mutate(note.id)}
      title={t('Excluir esta anotação?')}
      confirmText={t('Excluir anotação')}
      isBusy={remove.isPending}
      error={remove.error ? explainError(remove.error) : undefined}
    >
      <blockquote className="line-clamp-6 border-l-2 border-line-strong pl-3 text-sm whitespace-pre-wrap break-words">
        {note?.note}
      </blockquote>
      <p className="text-sm text-muted">
        {t('O texto se perde. A auditoria guarda só quem escreveu e quem excluiu.')}
      </p>
    </ConfirmDialog>
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

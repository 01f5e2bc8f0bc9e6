import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { createShare } from '../../platform/admission/share.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { imageFileRoutes } from './image-file-routes.ts'

test('a client that left before its download begins keeps no place', async () => {
  const imageSlots = createShare({ ownMax: 1 })
  const [route] = imageFileRoutes
  const { handler } = route?.handlersOf({ imageSlots } as never) ?? {}
  const request = { ip: '192.0.2.1', params: { id: 'unknown' } }
  const raw = Object.assign(new EventEmitter(), { destroyed: true })
  for (let count = 0; count < 2; count += 1)
    await assert.rejects(
      async () => handler?.call({} as never, request as never, { raw } as never),
      (error) => error instanceof RestRefusal && error.code === 'image_not_found',
    )
})

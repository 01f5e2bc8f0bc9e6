import cluster from 'node:cluster'
import { createChannel, type Channel } from './channel.ts'

/**
 * Opens the worker's end of the channel to its parent. `onLost` is called when the parent is gone, so that nothing
 * replaces this process if it dies.
 */
export function openParentChannel(onLost: () => void): Channel {
  // Otherwise the platform ends this process, with its calls, as soon as the parent is gone.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
  const channel = createChannel((message) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => {})
  })
  process.on('message', (message) => channel.receive(message))
  process.once('disconnect', () => {
    channel.close()
    onLost()
  })
  return channel
}
